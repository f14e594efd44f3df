// Names numbered in the order of their first use, as tables in files refer to them.

/** The number of the name, a new one when it is new. */
export function numberIn(names: Map<string, number>, name: string): number {
  let number = names.get(name);
  if (number === undefined) {
    number = names.size;
    names.set(name, number);
  }
  return number;
}
