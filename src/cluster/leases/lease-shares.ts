// Lease shares: how many leases of a kind each node should hold, and which nodes give to which.

/** Leases that nodes hold, of one kind. */
type Counts = ReadonlyMap<string, number>;

interface Gift {
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

/**
 * How many each of the nodes should hold: the numbers differ by one at most. Those that hold more
 * keep the one more, so that nothing moves without need.
 */
export function sharesOf(total: number, nodes: readonly string[], counts: Counts): Counts {
  const ordered = nodes.toSorted(
    (a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0) || Number(a > b) - Number(a < b),
  );
  const least = Math.floor(total / ordered.length);
  const further = total % ordered.length;
  return new Map(ordered.map((node, place) => [node, least + Number(place < further)]));
}

/**
 * What holders with too many give to those with too few. All nodes that know the same counts find
 * the same gifts. A holder that is not one of the nodes gives all that it has.
 */
export function giftsOf(total: number, nodes: readonly string[], counts: Counts): readonly Gift[] {
  if (nodes.length === 0) return [];
  const shares = sharesOf(total, nodes, counts);
  const missing = [...shares].map(([to, share]) => ({ to, count: share - (counts.get(to) ?? 0) }));
  const gifts: Gift[] = [];
  for (const [from, held] of [...counts].toSorted(([a], [b]) => Number(a > b) - Number(a < b))) {
    let surplus = held - (shares.get(from) ?? 0);
    for (const place of missing) {
      const count = Math.min(surplus, place.count);
      if (count <= 0) continue;
      gifts.push({ from, to: place.to, count });
      surplus -= count;
      place.count -= count;
    }
  }
  return gifts;
}
