"""The program of every stack."""

from holdfast.program import deploy

deploy()
