// Map files: the street map in the data folder, found again when it is replaced, and its tiles by fair turns.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TileName } from '../../model/map-tiles.ts';
import { problem } from '../../model/problem.ts';
import { FairTurns } from '../../structures/fair-turns.ts';
import { FileChanged, Pmtiles } from './pmtiles.ts';

/** A file that an operator adds or replaces is found after this time. */
const lookAgainMs = 10_000;
/** Reads share the threads of the file system with the journal. */
const runningMax = 2;
const waitingPerOrganizationMax = 256;
const organizationsMax = 1_000;

export interface FoundMap {
  readonly name: string;
  readonly contentType: string;
  readonly zoomMax: number;
  readonly attribution: string;
}

interface Opened {
  readonly name: string;
  /** Undefined for a file that cannot be read; `reason` says why. */
  readonly tiles: Pmtiles | undefined;
  readonly reason: string;
}

export class MapFiles {
  readonly #folder: string;
  readonly #now: () => number;
  readonly #turns = new FairTurns(
    { runningMax, waitingPerKeyMax: waitingPerOrganizationMax, keysMax: organizationsMax },
    () =>
      problem('quotaBusy', {
        limitName: 'mapTilesWaiting',
        limitMax: waitingPerOrganizationMax,
        per: 'organization',
        what: 'map tiles waiting',
        retryAfterSeconds: 1,
      }),
  );
  #lookedAt = Number.NEGATIVE_INFINITY;
  #opened: Promise<Opened | undefined> = Promise.resolve(undefined);

  /** `folder` is looked at when somebody asks, and need not exist. `now` is in milliseconds. */
  constructor(folder: string, now: () => number) {
    this.#folder = folder;
    this.#now = now;
  }

  /** The first `*.pmtiles` by name; undefined without one. Throws Problem `mapFileUnreadable`. */
  async find(): Promise<FoundMap | undefined> {
    const opened = await this.#open();
    if (opened === undefined) return undefined;
    const { contentType, zoomMax, attribution } = readable(opened);
    return { name: opened.name, contentType, zoomMax, attribution };
  }

  /**
   * A tile with its content type, `bytes` undefined where the map has none, and nothing at all
   * without a file or once the caller is gone. Throws Problem `mapFileUnreadable`, and 429 when too many tiles of the organization wait.
   */
  tile(organizationId: string, name: TileName, signal: AbortSignal) {
    return this.#turns.run(organizationId, async () => {
      if (signal.aborted) return undefined;
      // Once more, for a file that was replaced since.
      for (let isLast = false; ; isLast = true) {
        const opened = await this.#open();
        if (opened === undefined) return undefined;
        const tiles = readable(opened);
        try {
          return { contentType: tiles.contentType, bytes: await tiles.tile(name) };
        } catch (error) {
          this.#lookedAt = Number.NEGATIVE_INFINITY;
          if (!isLast && (error instanceof FileChanged || isGone(error))) continue;
          throw unreadable(opened.name, messageOf(error));
        }
      }
    });
  }

  #open(): Promise<Opened | undefined> {
    const now = this.#now();
    if (now - this.#lookedAt < lookAgainMs) return this.#opened;
    this.#lookedAt = now;
    const before = this.#opened;
    this.#opened = this.#look(before);
    return this.#opened;
  }

  async #look(before: Promise<Opened | undefined>): Promise<Opened | undefined> {
    const name = await this.#firstName();
    if (name === undefined) return undefined;
    const path = join(this.#folder, name);
    try {
      const known = await before;
      const { ino, size, mtimeMs } = await stat(path);
      if (known?.name === name && known.tiles?.identity === `${ino}-${size}-${mtimeMs}`)
        return known;
      return { name, tiles: await Pmtiles.open(path), reason: '' };
    } catch (error) {
      return { name, tiles: undefined, reason: messageOf(error) };
    }
  }

  async #firstName(): Promise<string | undefined> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      if (isGone(error)) return [];
      throw unreadable('maps', messageOf(error));
    });
    return names.filter((name) => name.endsWith('.pmtiles')).toSorted()[0];
  }
}

function readable({ name, tiles, reason }: Opened): Pmtiles {
  if (tiles === undefined) throw unreadable(name, reason);
  return tiles;
}

function unreadable(name: string, reason: string) {
  return problem('mapFileUnreadable', { name, reason });
}

/** Errors of the file system name folders of the server, which tenants need not know. */
function messageOf(error: unknown): string {
  if (error instanceof FileChanged) return 'it is being replaced';
  const systemCode = systemCodeOf(error);
  if (systemCode !== undefined) return systemCode;
  return error instanceof Error ? error.message : String(error);
}

function isGone(error: unknown): boolean {
  return systemCodeOf(error) === 'ENOENT';
}

function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
