// Place files: a tree of places as CSV, read completely before anything is stored, and written so that it imports as unchanged (contract 39.2).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { idSequence } from '../../model/ids.ts';
import { formatPath, parsePath, placeLimits, type PlaceRecord } from '../../model/place.ts';
import { problem, Problem } from '../../model/problem.ts';
import { fold } from '../../query/filters/predicates.ts';
import type { Records } from '../../storage/records/records.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { placeRows } from '../../storage/records/rows/places.ts';
import { type CsvRow, originalText } from '../../structures/csv.ts';
import { changeDevices } from '../devices/device-batch.ts';
import { change, firstVersion, nextVersion, placeIn, type Step } from '../record-crud.ts';
import { fileLine, filledRows, lengthMismatch, textOf } from './device-file.ts';

const { placesMax, depthMax, kindLengthMax, externalIdLengthMax } = placeLimits;
/** Lines behind the header. */
const linesMax = placesMax;
const devicesMax = 20_000;
const nameLengthMax = 500;
/** The last of them says how many more there are. */
const problemsMax = 1_000;
const linesPerTurn = 1_000;

const byPathColumns = ['path', 'externalId', 'kind', 'latitude', 'longitude', 'devices'] as const;
const byIdColumns = [
  'externalId',
  'parentExternalId',
  'name',
  'kind',
  'latitude',
  'longitude',
  'devices',
] as const;
type Column = (typeof byPathColumns | typeof byIdColumns)[number];

interface PlaceProblem {
  /** The header is line 1. */
  readonly line: number;
  readonly column: string | null;
  readonly message: string;
}

export interface PlaceReport {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly problems: readonly PlaceProblem[];
}

/** A place while a file is read: as it is stored, and as it will be. */
interface Node {
  readonly id: string;
  readonly stored: PlaceRecord | undefined;
  parent: Node | null;
  name: string;
  kind: string | null;
  externalId: string | null;
  position: PlaceRecord['position'];
  /** The line that names it. */
  line: number | undefined;
  /** Devices that are moved to it, by physical id. */
  devices: readonly string[];
}

interface Cells {
  readonly line: number;
  /** Of a column that the file does not have, undefined. */
  readonly of: (column: Column) => string | undefined;
}

/**
 * Reads the file into the tree of the workspace and stores it in one transaction, unless a line has
 * a problem or `dryRun` is set. A place that the file does not name stays as it is. Throws 403 when
 * it would change something that exists, and the caller may not.
 */
export async function importPlaces(
  records: Records,
  workspaceId: string,
  content: Uint8Array,
  { dryRun, mayUpdate }: { readonly dryRun: boolean; readonly mayUpdate: boolean },
): Promise<PlaceReport> {
  return change(records, async (step) => {
    const { organizationId } = await placeIn(step, workspaceId);
    const file = new PlaceFile(await placeRows.ofWorkspace(step.db, workspaceId));
    await file.read(content);
    file.check();
    const devices = await devicesToMove(step, { organizationId, workspaceId }, file);
    if (file.problems.length > 0)
      return { created: 0, updated: 0, unchanged: 0, problems: listed(file.problems) };
    const work = workOf(file.nodes, { organizationId, workspaceId }, step.now());
    const moving = new Set(devices.map(({ placeId }) => placeId));
    const updated = new Set(work.updated.map(({ id }) => id));
    for (const { id, stored } of file.nodes)
      if (stored !== undefined && moving.has(id)) updated.add(id);
    if (updated.size + devices.length > 0 && !mayUpdate) throw problem('permissionDenied');
    const named = file.nodes.filter(({ line }) => line !== undefined);
    const unchanged = named.filter(({ id, stored }) => stored !== undefined && !updated.has(id));
    const report = {
      created: work.created.length,
      updated: updated.size,
      unchanged: unchanged.length,
      problems: [],
    };
    if (!dryRun) await store(step, work, devices, workspaceId);
    return report;
  });
}

class PlaceFile {
  readonly nodes: Node[];
  readonly problems: PlaceProblem[] = [];
  readonly #newId = idSequence('place');
  /** By parent (or null) and folded name, as the file has changed them so far. */
  readonly #named = new Map<string, Node>();
  readonly #byExternalId = new Map<string, Node>();

  constructor(stored: readonly PlaceRecord[]) {
    const nodes = new Map<string, Node>();
    for (const record of stored) {
      const { id, name, kind, externalId, position } = record;
      const own = { name, kind, externalId, position };
      nodes.set(id, { id, stored: record, parent: null, ...own, line: undefined, devices: [] });
    }
    for (const node of nodes.values()) {
      const { parentId = null } = node.stored ?? {};
      node.parent = parentId === null ? null : (nodes.get(parentId) ?? null);
    }
    this.nodes = [...nodes.values()];
    for (const node of this.nodes) {
      this.#named.set(keyOf(node.parent, node.name), node);
      if (node.externalId !== null) this.#byExternalId.set(node.externalId, node);
    }
  }

  report(line: number, column: string | null, message: string): void {
    this.problems.push({ line, column, message });
  }

  async read(content: Uint8Array): Promise<void> {
    const text = textOf(content);
    if (text === undefined)
      return this.report(1, null, 'The file is not valid UTF-8. Save it as CSV UTF-8.');
    const rows = filledRows(text);
    const head = rows.next().value as CsvRow | undefined;
    if (head === undefined) return this.report(1, null, 'The file has no header row');
    const columns = head.cells.map((name) => name.trim());
    const isByPath = columns.includes('path');
    if (!this.#checkColumns(columns, head, isByPath ? byPathColumns : byIdColumns)) return;
    const parents = new Map<Node, readonly [line: number, externalId: string]>();
    let lines = 0;
    for (const { line, cells, fault } of rows) {
      lines += 1;
      if (lines > linesMax)
        return this.report(line, null, `The file has more than ${linesMax} lines`);
      if (lines % linesPerTurn === 0) await nextTurn();
      const message = fault ?? lengthMismatch(cells, columns);
      if (message !== undefined) {
        this.report(line, null, message);
        continue;
      }
      const of = (column: Column) => {
        const at = columns.indexOf(column);
        return at === -1 ? undefined : originalText(cells[at] ?? '').trim();
      };
      const one = { line, of };
      const node = isByPath ? this.#atPath(one) : this.#withExternalId(one, parents);
      if (node !== undefined) this.#setFields(node, one);
    }
    for (const [node, [line, externalId]] of parents) {
      const parent = this.#byExternalId.get(externalId);
      if (parent === undefined)
        this.report(line, 'parentExternalId', `no place has externalId ${shown(externalId)}`);
      else node.parent = parent;
    }
  }

  #checkColumns(
    columns: readonly string[],
    { line, fault }: CsvRow,
    valid: readonly string[],
  ): boolean {
    const before = this.problems.length;
    if (fault !== undefined) this.report(line, null, fault);
    for (const [at, column] of columns.entries()) {
      if (column === '') continue;
      if (columns.indexOf(column) !== at) this.report(line, column, 'is a duplicate column');
      else if (!valid.includes(column))
        this.report(line, column, `is not a valid column; valid: ${valid.join(', ')}`);
    }
    const needed = valid === byPathColumns ? ['path'] : ['externalId', 'name'];
    for (const column of needed)
      if (!columns.includes(column))
        this.report(line, column, 'is missing; a file has a column path, or externalId and name');
    if (columns.includes('latitude') !== columns.includes('longitude'))
      this.report(line, null, 'latitude and longitude are only valid together');
    return this.problems.length === before;
  }

  /** The place at the path; the missing ones above it are created too. */
  #atPath({ line, of }: Cells): Node | undefined {
    const names = parsePath(of('path') ?? '');
    if (names === undefined) {
      this.report(line, 'path', 'must be names separated by /, none of them empty');
      return undefined;
    }
    if (names.length > depthMax) {
      this.report(line, 'path', `must have at most ${depthMax} levels, has ${names.length}`);
      return undefined;
    }
    let node: Node | null = null;
    for (const name of names) {
      if (!this.#isName(line, 'path', name)) return undefined;
      node = this.#named.get(keyOf(node, name)) ?? this.#add(node, name);
    }
    return node === null ? undefined : this.#claim(node, line, 'path');
  }

  #withExternalId(
    { line, of }: Cells,
    parents: Map<Node, readonly [line: number, externalId: string]>,
  ): Node | undefined {
    const externalId = of('externalId') ?? '';
    const name = of('name') ?? '';
    if (externalId === '') this.report(line, 'externalId', 'is required');
    if (!this.#isExternalId(line, externalId) || !this.#isName(line, 'name', name))
      return undefined;
    if (externalId === '') return undefined;
    const known = this.#byExternalId.get(externalId);
    const node = known ?? this.#add(null, name);
    if (known === undefined) {
      node.externalId = externalId;
      this.#byExternalId.set(externalId, node);
    }
    node.name = name;
    const parent = of('parentExternalId');
    if (parent === '') node.parent = null;
    else if (parent !== undefined) parents.set(node, [line, parent]);
    return this.#claim(node, line, 'externalId');
  }

  #add(parent: Node | null, name: string): Node {
    const fresh = { kind: null, externalId: null, position: null, line: undefined, devices: [] };
    const node: Node = { id: this.#newId(), stored: undefined, parent, name, ...fresh };
    this.nodes.push(node);
    this.#named.set(keyOf(parent, name), node);
    return node;
  }

  #claim(node: Node, line: number, column: Column): Node | undefined {
    if (node.line === undefined) {
      node.line = line;
      return node;
    }
    this.report(line, column, `names the same place as line ${node.line}`);
    return undefined;
  }

  /** A column that is there sets its field, and an empty cell removes it. */
  #setFields(node: Node, { line, of }: Cells): void {
    const kind = of('kind');
    if (kind !== undefined && kind.length > kindLengthMax)
      this.report(line, 'kind', `must be at most ${kindLengthMax} characters`);
    else if (kind !== undefined) node.kind = kind === '' ? null : kind;
    const externalId = of('externalId');
    if (externalId !== undefined && this.#isExternalId(line, externalId))
      node.externalId = externalId === '' ? null : externalId;
    this.#setPosition(node, line, of('latitude'), of('longitude'));
    const devices = (of('devices') ?? '').split(';').map((id) => id.trim());
    node.devices = [...new Set(devices.filter((id) => id !== ''))];
  }

  #setPosition(node: Node, line: number, latitude?: string, longitude?: string): void {
    if (latitude === undefined || longitude === undefined) return;
    if (latitude === '' && longitude === '') {
      node.position = null;
      return;
    }
    const north = this.#degrees(line, 'latitude', latitude, 90);
    const east = this.#degrees(line, 'longitude', longitude, 180);
    if (north !== undefined && east !== undefined)
      node.position = { latitude: north, longitude: east };
  }

  #degrees(line: number, column: Column, text: string, max: number): number | undefined {
    const degrees = text === '' ? Number.NaN : Number(text);
    if (Math.abs(degrees) <= max) return degrees;
    this.report(line, column, `must be a number from -${max} to ${max}, is ${shown(text)}`);
    return undefined;
  }

  #isName(line: number, column: Column, name: string): boolean {
    if (name !== '' && name.length <= nameLengthMax) return true;
    this.report(line, column, `a name must have 1 to ${nameLengthMax} characters`);
    return false;
  }

  #isExternalId(line: number, externalId: string): boolean {
    if (externalId.length <= externalIdLengthMax) return true;
    this.report(line, 'externalId', `must be at most ${externalIdLengthMax} characters`);
    return false;
  }

  /** The tree as it would be: no rings, no twins, not too deep, not too large. */
  check(): void {
    const names = new Map<string, Node>();
    const externalIds = new Map<string, Node>();
    for (const node of this.nodes) {
      const line = node.line ?? 1;
      if (!hasRoomAbove(node)) {
        this.report(
          line,
          null,
          `place ${shown(node.name)} would be below itself, or below ${depthMax} others`,
        );
        continue;
      }
      const twin = names.get(keyOf(node.parent, node.name));
      if (twin !== undefined)
        this.report(
          Math.max(line, twin.line ?? 1),
          null,
          `there would be two places named ${shown(node.name)} in one place`,
        );
      names.set(keyOf(node.parent, node.name), node);
      if (node.externalId === null) continue;
      const other = externalIds.get(node.externalId);
      if (other !== undefined)
        this.report(
          Math.max(line, other.line ?? 1),
          'externalId',
          `there would be two places with externalId ${shown(node.externalId)}`,
        );
      externalIds.set(node.externalId, node);
    }
    if (this.nodes.length > placesMax)
      this.report(
        1,
        null,
        `the workspace would have ${this.nodes.length} places; at most ${placesMax} are permitted`,
      );
    this.problems.sort((a, b) => a.line - b.line);
  }
}

function listed(problems: readonly PlaceProblem[]): readonly PlaceProblem[] {
  if (problems.length <= problemsMax) return problems;
  const more = problems.length - problemsMax + 1;
  const rest = { line: problems[problemsMax - 1]?.line ?? 1, column: null };
  return [
    ...problems.slice(0, problemsMax - 1),
    { ...rest, message: `there are ${more} more problems from here on` },
  ];
}

function keyOf(parent: Node | null, name: string): string {
  return `${parent?.id ?? ''} ${fold(name)}`;
}

function shown(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

/** False for a place that is too deep, and for one in a ring, which has no end above it. */
function hasRoomAbove({ parent }: Node): boolean {
  let levels = 1;
  for (let at = parent; at !== null && levels <= depthMax; at = at.parent) levels += 1;
  return levels <= depthMax;
}

/** The nearest first. */
function aboveOf({ parent }: Node): string[] {
  const ids: string[] = [];
  for (let at = parent; at !== null; at = at.parent) ids.push(at.id);
  return ids;
}

interface MovedDevice {
  readonly id: string;
  readonly placeId: string;
}

/** The devices of the file that are elsewhere; unknown ones are problems. */
async function devicesToMove(
  { db }: Step,
  {
    organizationId,
    workspaceId,
  }: { readonly organizationId: string; readonly workspaceId: string },
  file: PlaceFile,
): Promise<MovedDevice[]> {
  const named = new Map<string, Node>();
  for (const node of file.nodes)
    for (const deviceId of node.devices) {
      const other = named.get(deviceId);
      if (other !== undefined)
        file.report(
          node.line ?? 1,
          'devices',
          `device ${shown(deviceId)} is also in line ${other.line}`,
        );
      named.set(deviceId, node);
    }
  if (named.size > devicesMax) {
    file.report(1, 'devices', `the file names more than ${devicesMax} devices`);
    return [];
  }
  const known = await deviceRows.placesByName(db, organizationId, [...named.keys()]);
  const current = await placeRows.deviceIdsByPlace(db, workspaceId);
  const moved: MovedDevice[] = [];
  for (const [deviceId, node] of named) {
    const device = known.get(deviceId);
    if (device?.workspaceId !== workspaceId)
      file.report(
        node.line ?? 1,
        'devices',
        `no device with device ID ${shown(deviceId)} in this workspace`,
      );
    else if (current.get(node.id)?.includes(deviceId) !== true)
      moved.push({ id: device.id, placeId: node.id });
  }
  return moved;
}

interface Work {
  readonly created: readonly { readonly record: PlaceRecord; readonly above: readonly string[] }[];
  readonly updated: readonly PlaceRecord[];
  /** The ids above each stored place that has others above it than before. */
  readonly moved: ReadonlyMap<string, readonly string[]>;
}

function workOf(
  nodes: readonly Node[],
  owner: { readonly organizationId: string; readonly workspaceId: string },
  now: number,
): Work {
  const created: Work['created'][number][] = [];
  const updated: PlaceRecord[] = [];
  const isMoved = new Map<Node, boolean>();
  const moves = (node: Node): boolean => {
    const known = isMoved.get(node);
    if (known !== undefined) return known;
    const { stored, parent } = node;
    const own = stored !== undefined && stored.parentId !== (parent?.id ?? null);
    const moving = own || (parent !== null && moves(parent));
    isMoved.set(node, moving);
    return moving;
  };
  const moved = new Map<string, readonly string[]>();
  for (const node of nodes) {
    const { id, stored, parent, name, kind, externalId, position } = node;
    const fields = { parentId: parent?.id ?? null, name, kind, externalId, position };
    if (stored === undefined) {
      const empty = { description: null, plan: null, properties: {} };
      const record = { id, ...owner, ...fields, ...empty, ...firstVersion(now) };
      created.push({ record, above: aboveOf(node) });
      continue;
    }
    if (moves(node)) moved.set(id, aboveOf(node));
    const before = { parentId: stored.parentId, name: stored.name, kind: stored.kind };
    const rest = { externalId: stored.externalId, position: stored.position };
    if (JSON.stringify(fields) !== JSON.stringify({ ...before, ...rest }))
      updated.push({ ...stored, ...fields, ...nextVersion(stored, undefined, now) });
  }
  return { created, updated, moved };
}

async function store(
  step: Step,
  { created, updated, moved }: Work,
  devices: readonly MovedDevice[],
  workspaceId: string,
): Promise<void> {
  await placeRows.insertAll(step.db, created);
  await placeRows.saveAll(step.db, updated, moved);
  for (const { record } of created)
    step.announce({ kind: 'place', id: record.id, action: 'created' });
  for (const { id } of updated) step.announce({ kind: 'place', id, action: 'updated' });
  const changes = devices.map(
    ({ id, placeId }) => ({ work: 'place', id, placeId, does: 'add' }) as const,
  );
  for (const outcome of await changeDevices(step, changes, workspaceId))
    if (outcome instanceof Problem) throw outcome;
}

/** The text of the file in order of path; an import of it changes nothing. */
export async function exportPlaces(records: Records, workspaceId: string): Promise<string> {
  const places = await placeRows.ofWorkspace(records.db, workspaceId);
  const devices = await placeRows.deviceIdsByPlace(records.db, workspaceId);
  const byId = new Map(places.map((place) => [place.id, place]));
  const namesOf = (place: PlaceRecord): string[] => {
    const parent = place.parentId === null ? undefined : byId.get(place.parentId);
    return [...(parent === undefined ? [] : namesOf(parent)), place.name];
  };
  const lines = places.map((place): readonly [string, string] => {
    const { externalId, kind, position, id } = place;
    const names = namesOf(place);
    const cells = [formatPath(names), externalId ?? '', kind ?? ''];
    const degrees = [position?.latitude ?? '', position?.longitude ?? ''].map(String);
    // A device id with a semicolon would be two; an import leaves the device where it is.
    const ids = (devices.get(id) ?? []).filter((deviceId) => !deviceId.includes(';'));
    return [fold(names.join('\0')), fileLine([...cells, ...degrees, ids.join(';')])];
  });
  const sorted = lines.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return fileLine(byPathColumns) + sorted.map(([, line]) => line).join('');
}

/** Throws 400 for a file of another type. */
export function refuseUnlessCsv(contentType: string | undefined): void {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? 'none';
  if (type !== 'text/csv' && type !== 'application/csv')
    throw problem('unsupportedMediaType', { contentType: type, supported: 'text/csv' });
}
