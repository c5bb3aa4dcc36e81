"""Whether one owner's rows are closed to another: by what the server says of its policies, and by trying."""

from __future__ import annotations

import secrets
from typing import Final

from memory_rag.checkup import Finding
from memory_rag.postgres.table import SCHEMA, SETTING
from memory_rag.store.engine import Connections

_TABLES: Final = (
    "SELECT relname, relrowsecurity AND relforcerowsecurity, NOT relispartition FROM pg_class "
    "JOIN pg_namespace ON pg_namespace.oid = relnamespace "
    "WHERE nspname = ? AND relkind IN ('r', 'p') AND EXISTS "
    "(SELECT 1 FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'owner') ORDER BY relname"
)
# As PostgreSQL writes our policy, in every release since 15.
_OURS: Final = f"(owner = current_setting('{SETTING}'::text, true))"
_POLICIES: Final = (
    "SELECT tablename, bool_or(policyname = 'of_owner' AND cmd = 'ALL' AND qual = ?1 AND with_check = ?1), "
    "bool_or(permissive = 'PERMISSIVE' AND policyname <> 'of_owner') FROM pg_policies WHERE schemaname = ?2 "
    "GROUP BY tablename"
)
_ROLE: Final = (
    "SELECT current_user::text, rolsuper OR rolbypassrls, coalesce((SELECT string_agg(mighty.rolname, ', ') "
    "FROM pg_roles AS mighty WHERE (mighty.rolsuper OR mighty.rolbypassrls) AND mighty.oid <> pg_roles.oid "
    "AND pg_has_role(pg_roles.oid, mighty.oid, 'MEMBER')), '') FROM pg_roles WHERE rolname = current_user"
)
_SHOWN: Final = 5


def others_see_nothing(connections: Connections) -> Finding:
    """Check that every table is closed by its policy, and that a stranger indeed finds no row in any."""
    with connections.reading() as connection:
        tables = connection.execute(_TABLES, (SCHEMA,)).fetchall()
        policies = {
            name: (ours, more) for name, ours, more in connection.execute(_POLICIES, (_OURS, SCHEMA)).fetchall()
        }
        # Of this transaction only: it ends here, and the next one is set to its owner when it begins.
        connection.execute("SELECT set_config(?, ?, true)", (SETTING, f"nobody {secrets.token_hex(16)}")).fetchall()
        seen = [
            str(name)
            for name, _, is_asked in tables
            if is_asked and connection.execute(f'SELECT EXISTS (SELECT 1 FROM "{name}")').fetchone()[0]
        ]
    if seen:
        return _open(f"a stranger sees rows of {_named(seen)}")
    if unforced := [str(name) for name, is_forced, _ in tables if not is_forced]:
        return _open(f"row-level security is off, or not forced, for {_named(unforced)}")
    if changed := [str(name) for name, _, _ in tables if not policies.get(name, (False, False))[0]]:
        return _open(f"the policy is another than ours, or gone, of {_named(changed)}")
    if wider := [name for name, (_, more) in policies.items() if more]:
        return _open(f"a further policy lets more in to {_named(wider)}")
    return Finding("owners", "ok", f"row-level security is forced for {len(tables):,} tables; a stranger sees no row")


def role(connections: Connections) -> Finding:
    """Check that our role is held by the policies, and can't become one that isn't."""
    with connections.reading() as connection:
        name, is_mighty, others = connection.execute(_ROLE).fetchone()
    if not is_mighty and not others:
        return Finding(
            "role", "ok", f"{name} is no superuser, doesn't bypass row-level security, and can't become who does"
        )
    remedy = "take it away with: ALTER ROLE … NOSUPERUSER NOBYPASSRLS, and REVOKE what it is a member of"
    if is_mighty:
        return Finding("role", "fail", f"{name} is a superuser or bypasses row-level security", remedy)
    return Finding("role", "fail", f"{name} is a member of {others}, for whom no policy holds", remedy)


def _open(what: str) -> Finding:
    remedy = (
        "for each, as its owner: ALTER TABLE … ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY, and drop every "
        f"policy but of_owner, which is: USING {_OURS} WITH CHECK the same"
    )
    return Finding("owners", "fail", what, remedy)


def _named(tables: list[str]) -> str:
    more = f" and {len(tables) - _SHOWN:,} more" if len(tables) > _SHOWN else ""
    return ", ".join(tables[:_SHOWN]) + more
