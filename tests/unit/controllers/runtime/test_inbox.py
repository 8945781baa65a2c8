"""What is told to a loop is heard once, however much there is."""

import queue

from holdfast.controllers.runtime.inbox import heard
from hypothesis import given
from hypothesis import strategies as st


@given(told=st.lists(st.integers()), most=st.integers(1, 5))
def test_everything_told_is_heard_once_and_in_order(told: list[int], most: int) -> None:
    inbox: queue.SimpleQueue[int] = queue.SimpleQueue()
    for each in told:
        inbox.put(each)
    portions: list[list[int]] = []
    while portions == [] or portions[-1]:
        portions.append(list(heard(inbox, 0.001, most)))
    assert [each for portion in portions for each in portion] == told
    assert all(len(portion) <= most for portion in portions)
