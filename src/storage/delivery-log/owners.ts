// Owners: the organizations and workspaces of a segment, numbered in the order of their first record.

export type Owner = readonly [organizationId: string, workspaceId: string];

interface Owned {
  readonly organizationId: string;
  readonly workspaceId: string;
}

export class Owners {
  readonly list: Owner[];
  readonly #numbers: Map<string, number>;

  constructor(list: readonly Owner[] = []) {
    this.list = [...list];
    this.#numbers = new Map(this.list.map((owner, number) => [owner.join(' '), number]));
  }

  /** The number of the owner, which is added when it is new. */
  numberOf({ organizationId, workspaceId }: Owned): number {
    const key = `${organizationId} ${workspaceId}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.list.push([organizationId, workspaceId]) - 1;
    this.#numbers.set(key, number);
    return number;
  }
}
