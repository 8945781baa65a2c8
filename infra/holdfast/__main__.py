"""`python -m holdfast` is the command; started by Pulumi's plugin runner, the component package."""

import sys

from holdfast.errors import ExitCode

if __name__ == "__main__":
    # Pulumi runs `python -m pulumi.run.plugin holdfast ADDRESS`, which runs this module.
    if "pulumi.run.plugin" in sys.modules:
        from holdfast.components.package import serve

        serve(sys.argv[1:])
        sys.exit(int(ExitCode.OK))
    from holdfast.cli.main import main

    main()
