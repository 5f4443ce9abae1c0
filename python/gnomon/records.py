"""Tables as lists of dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


class Records(list[dict[str, Any]]):
    """Rows of a table: a list of flat dicts, which ``pandas.DataFrame`` accepts.

    Parameters
    ----------
    rows : list of dict
        The rows.
    document : dict
        The whole document that contains the rows.
    """

    def __init__(self, rows: list[dict[str, Any]], document: dict[str, Any]) -> None:
        super().__init__(rows)
        self.document = document

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a ``pandas.DataFrame``. pandas must be installed."""
        import pandas as pd

        return pd.DataFrame(self)
