// Version 110: nodes and their leases, in a database that several nodes can share.
import { type Kysely, PostgresAdapter, sql } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  if (!(db.getExecutor().adapter instanceof PostgresAdapter)) return;
  // The journal number is given with the first registration and never again.
  await sql`
    create table "nodes" (
      "id" text collate "C" primary key,
      "journal" bigint generated always as identity unique,
      "session" text not null,
      "url" text not null,
      "seenUntil" timestamptz not null,
      "draining" boolean not null)`.execute(db);
  await sql`
    create table "leases" (
      "name" text collate "C" primary key,
      "node" text collate "C" references "nodes" ("id"),
      "epoch" bigint not null default 0,
      "until" timestamptz not null default '-infinity')`.execute(db);
  // Rows change every two seconds and stay small: room in their pages saves the indexes.
  await sql`alter table "leases" set (fillfactor = 50)`.execute(db);
}
