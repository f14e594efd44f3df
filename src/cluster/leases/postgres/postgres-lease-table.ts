// Lease table in PostgreSQL: one statement for each step, through one session.
import { randomUUID } from 'node:crypto';
import type { LeaseRow, LeaseTable } from '../leases.ts';

/**
 * Each statement begins with it: locks the row of the node, so that a statement of an earlier
 * session, which may still run, comes before `register` or finds another session.
 */
const asNode = `with "me" as (
  update "nodes" set "seenUntil" = now() + make_interval(secs => $3)
  where "id" = $1 and "session" = $2 returning "id")`;

/** The default of the journal number is only used for a node that is new. */
const register = `with "known" as (
  update "nodes" set "session" = $2, "url" = $4, "draining" = $5,
    "seenUntil" = now() + make_interval(secs => $3)
  where "id" = $1 returning "id")
insert into "nodes" ("id", "session", "url", "seenUntil", "draining")
select $1, $2, $4, now() + make_interval(secs => $3), $5
where not exists (select 1 from "known")`;

const add = `
  insert into "leases" ("name") select unnest($1::text[]) on conflict ("name") do nothing`;

/** A row without a name says that the node is still registered by this session. */
const renew = `with "me" as (
  update "nodes" set "seenUntil" = now() + make_interval(secs => $3), "draining" = $4
  where "id" = $1 and "session" = $2 returning "id"),
"renewed" as (
  update "leases" set "until" = now() + make_interval(secs => $3)
  from "me" where "leases"."node" = "me"."id" returning "leases"."name", "leases"."epoch")
select "name", "epoch" from "renewed" union all select null, null from "me"`;

const take = `${asNode}, "free" as (
  select "name" from "leases" where "name" = any($4::text[]) and "until" <= now()
  order by "name" limit $5 for update skip locked)
update "leases" set "node" = "me"."id", "epoch" = nextval('"leaseEpochs"'),
  "until" = now() + make_interval(secs => $3)
from "me", "free" where "leases"."name" = "free"."name"
returning "leases"."name", "leases"."epoch"`;

/** What is given to a node that leaves meanwhile is free at once: it would be silent for its time. */
const move = `${asNode}
update "leases" set "node" = $4, "epoch" = nextval('"leaseEpochs"'),
  "until" = now() + make_interval(secs => case when exists (
    select from "nodes" where "id" = $4 and "seenUntil" > now() and not "draining"
  ) then $3::double precision else 0 end)
from "me", unnest($5::text[], $6::bigint[]) as "given" ("name", "epoch")
where "leases"."node" = "me"."id" and "leases"."name" = "given"."name"
  and "leases"."epoch" = "given"."epoch"`;

const release = `with "me" as (
  update "nodes" set "seenUntil" = now(), "draining" = true
  where "id" = $1 and "session" = $2 returning "id")
update "leases" set "until" = now() from "me" where "leases"."node" = "me"."id"`;

const viewRows = `
  select "leases"."name", "leases"."epoch", "leases"."until" > now() as "isLive",
    "nodes"."id", "nodes"."url"
  from "leases" left join "nodes" on "nodes"."id" = "leases"."node"`;

const viewNodes = `
  select "id" from "nodes" where "seenUntil" > now() and not "draining" order by "id"`;

interface ViewRow extends LeaseRow {
  readonly isLive: boolean;
  readonly id: string | null;
  readonly url: string;
}

/** `leaseMs` is the time of a lease, for all nodes of a cluster. */
export function postgresLeaseTable(
  on: {
    query(text: string, values: readonly unknown[]): Promise<readonly unknown[]>;
    close(): Promise<void>;
  },
  leaseMs: number,
): LeaseTable {
  const session = randomUUID();
  const seconds = leaseMs / 1_000;
  let nodeId = '';

  const rowsOf = async <T>(text: string, values: readonly unknown[]): Promise<readonly T[]> =>
    (await on.query(text, values)) as readonly T[];
  const asThis = <T>(text: string, ...values: readonly unknown[]): Promise<readonly T[]> =>
    rowsOf<T>(text, [nodeId, session, seconds, ...values]);

  return {
    async register(node, isDraining) {
      nodeId = node.id;
      await asThis(register, node.url, isDraining);
    },
    async add(names) {
      await rowsOf(add, [names]);
    },
    async renew(isDraining) {
      const rows = await asThis<LeaseRow | { name: null }>(renew, isDraining);
      const isRegistered = rows.some(({ name }) => name === null);
      return isRegistered ? rows.filter((row): row is LeaseRow => row.name !== null) : undefined;
    },
    take: (names, countMax) => asThis<LeaseRow>(take, names, countMax),
    async move(rows, to) {
      const names = rows.map(({ name }) => name);
      await asThis(
        move,
        to,
        names,
        rows.map(({ epoch }) => epoch),
      );
    },
    async release() {
      await rowsOf(release, [nodeId, session]);
    },
    async view() {
      const rows = await rowsOf<ViewRow>(viewRows, []);
      const nodes = await rowsOf<{ id: string }>(viewNodes, []);
      return {
        rows: rows.map(({ name, epoch, isLive, id, url }) => ({
          name,
          epoch,
          isLive,
          node: id === null ? undefined : { id, url },
        })),
        nodes: nodes.map(({ id }) => id),
      };
    },
    close: () => on.close(),
  };
}
