from holdfast.adapters.engine.failures.messages import ApplyConflict, find_conflicts

REPORT = (
    "Preview failed: 1 error occurred:\n\t* the Kubernetes API server reported that "
    '"default/app" failed to fully initialize or become live: server-side apply field conflict '
    "detected, see https://www.pulumi.com/x/#y for troubleshooting help\n"
    'The resource managed by field manager "holdfast" had an apply conflict: {}\n\n\n'
)


def test_reads_one_conflict() -> None:
    text = REPORT.format(
        'Apply failed with 1 conflict: conflict with "kubectl-set" using apps/v1: '
        '.spec.template.spec.containers[name="agent"].image'
    )

    (conflict,) = find_conflicts(text)

    assert conflict == ApplyConflict(
        "default/app",
        "holdfast",
        "kubectl-set",
        "",
        ('.spec.template.spec.containers[name="agent"].image',),
    )
    assert str(conflict) == (
        "default/app: field manager kubectl-set has changed "
        '.spec.template.spec.containers[name="agent"].image, which holdfast declares'
    )


def test_reads_the_subresource_and_the_time() -> None:
    text = REPORT.format(
        'Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using '
        "apps/v1 at 2026-11-21T18:23:28Z: .spec.replicas"
    )

    (conflict,) = find_conflicts(text)

    assert (conflict.subresource, conflict.paths) == ("scale", (".spec.replicas",))
    assert "through the subresource scale" in str(conflict)


def test_reads_several_managers_and_fields() -> None:
    text = REPORT.format(
        'Apply failed with 3 conflicts: conflicts with "console" using v1:\n- .data.a\n- .data.b\n'
        'conflicts with "kubectl-edit" using v1:\n- .data.c'
    )

    assert [(c.other, c.paths) for c in find_conflicts(text)] == [
        ("console", (".data.a", ".data.b")),
        ("kubectl-edit", (".data.c",)),
    ]


def test_reads_the_conflicts_of_several_objects_each_once() -> None:
    one = REPORT.format('Apply failed with 1 conflict: conflict with "x" using v1: .data.a')

    assert len(find_conflicts(one + one.replace("default/app", "default/b") + one)) == 2


def test_finds_none_in_other_text() -> None:
    assert find_conflicts("error: preview failed") == ()
