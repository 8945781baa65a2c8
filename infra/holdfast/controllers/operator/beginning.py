"""To begin while the API server is away, as after a restart of all: wait for it, and say so."""

from collections.abc import Callable
from typing import Final

from holdfast.adapters.cluster.api_error import ApiError, UnreachableError
from holdfast.adapters.cluster.backoff import STARTS

LONGEST_REST_SECONDS: Final = 20.0
"""Between two tries."""


def wait_for_api_server(
    begin: Callable[[], None], rest: Callable[[float], bool], tell: Callable[[str], None]
) -> bool:
    """Begin as soon as the server answers.

    Args:
        begin: Begins, or raises.
        rest: Rests for so many seconds; whether to go on.
        tell: Hears why it waits.

    Returns:
        Whether it has begun; False when it was told to stop before.

    Raises:
        ClusterError: the server has refused, which waiting does not mend.
    """
    failures = 0
    while True:
        try:
            begin()
        except (UnreachableError, ApiError) as error:
            if isinstance(error, ApiError) and not error.may_pass:
                raise
            failures += 1
            tell(str(error))
            if not rest(STARTS.seconds(failures)):
                return False
        else:
            return True
