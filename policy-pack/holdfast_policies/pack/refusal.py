"""A pack that cannot be evaluated: it tells the engine why, and every run under it fails."""

from typing import Any, NoReturn

import grpc

from holdfast_policies.pack.sdk import AnalyzerServicer


class RefusingServicer(AnalyzerServicer):
    """Answers whatever the engine asks with what is wrong.

    A process that ended would be refused as well, and the engine would not say why.
    """

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def ConfigureStack(self, request: Any, context: Any) -> NoReturn:  # noqa: ANN401, N802  # gRPC's
        """Refuse the stack."""
        self._refuse(context)

    def GetAnalyzerInfo(self, request: Any, context: Any) -> NoReturn:  # noqa: ANN401, N802  # gRPC's
        """Refuse to name any rule."""
        self._refuse(context)

    def Configure(self, request: Any, context: Any) -> NoReturn:  # noqa: ANN401, N802  # gRPC's
        """Refuse every config."""
        self._refuse(context)

    def Analyze(self, request: Any, context: Any) -> NoReturn:  # noqa: ANN401, N802  # gRPC's
        """Refuse every resource."""
        self._refuse(context)

    def AnalyzeStack(self, request: Any, context: Any) -> NoReturn:  # noqa: ANN401, N802  # gRPC's
        """Refuse the stack as a whole."""
        self._refuse(context)

    def _refuse(self, context: Any) -> NoReturn:  # noqa: ANN401  # gRPC's
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"policy pack: {self._reason}")
        raise RuntimeError(self._reason)  # abort has raised already
