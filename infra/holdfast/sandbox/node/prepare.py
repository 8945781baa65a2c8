"""Write all that a real node reads before its processes start."""

import shutil
import tempfile
from pathlib import Path

import msgspec

from holdfast.adapters.engine.run.toolchain import node_programs_folder
from holdfast.adapters.files import make_private_directory, write_private_file
from holdfast.sandbox.image.oci_archive import ImageConfig, write_archive
from holdfast.sandbox.node.configuration import egress_selector, node_files
from holdfast.sandbox.node.requirements import cni_folder, system_program
from holdfast.sandbox.node.settings import (
    PAUSE_IMAGE,
    NodeSettings,
    cgroup_name,
    settings_file,
)
from holdfast.sandbox.paths import SandboxPaths
from holdfast.sandbox.record import SandboxRecord


def prepare_node(place: SandboxPaths, record: SandboxRecord) -> NodeSettings:
    """Write settings, configuration files and the image of each pod's first container.

    Raises:
        ToolchainError: the programs have not been built.
        OSError: a file cannot be written.
    """
    settings = NodeSettings(
        sandbox=place.name,
        directory=str(place.directory),
        api_port=record.ports.api_server,
        programs=str(node_programs_folder()),
        cni_plugins=str(cni_folder()),
        runc=str(system_program("runc")),
        cgroup=cgroup_name(record.token),
    )
    make_private_directory(place.node)
    write_private_file(place.configuration / "egress.yaml", egress_selector(place))
    for name, content in node_files(settings).items():
        file = settings.configuration(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_private_file(file, content)
    _write_pause(settings, place.node / "pause.tar")
    write_private_file(settings_file(place), msgspec.json.encode(settings))
    return settings


def _write_pause(settings: NodeSettings, archive: Path) -> None:
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        shutil.copy(settings.program("pause"), folder)
        write_archive(Path(folder), archive, PAUSE_IMAGE, ImageConfig(entrypoint=("/pause",)))
