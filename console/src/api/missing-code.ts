// Missing code: a part of the console that did not arrive.

/** A chunk is not there, because the network is not, or because the platform has a newer console. */
export class MissingCode extends Error {
  readonly part: string;

  constructor(part: string, cause: unknown) {
    super(`The code of ${part} could not be loaded`, { cause });
    this.name = 'MissingCode';
    this.part = part;
  }
}

/** Kept while a reload was made for the part that has not brought it yet. */
export const markOf = (part: string) => `reloaded for ${part}`;

/** Loads code; throws MissingCode with the name of the part that it is for. */
export async function loadCode<T>(part: string, load: () => Promise<T>): Promise<T> {
  try {
    const code = await load();
    sessionStorage.removeItem(markOf(part));
    return code;
  } catch (error) {
    throw new MissingCode(part, error);
  }
}
