// Compares what the store finds for random expressions with what the slow reference says of every device.
import { Assets } from '../../src/inventory/devices/assets.ts';
import { Devices } from '../../src/inventory/devices/devices.ts';
import { findDeviceIds, listDevices } from '../../src/storage/records/rows/device-lists.ts';
import { isMet } from './filter-reference.ts';
import { filterNow, openFilteredInventory, principal, randomFrom } from './filtered-inventory.ts';
import { fieldKinds, predicatesFor, randomExpression, randomFilter } from './random-expressions.ts';

const devicesMax = 1_000;

/** Throws with the expression at the first difference. `seed` decides inventory and expressions. */
export async function filterRun(seed: number, devices: number, expressions: number) {
  const inventory = await openFilteredInventory(seed, devices);
  const { records, ids, places } = inventory;
  try {
    const random = randomFrom(seed * 7_919);
    const known = {
      ids,
      flowIds: places.flatMap((place) => place.flows.map((flow) => flow.id)),
      typeIds: places.flatMap((place) => place.flows.flatMap((flow) => flow.deviceType?.id ?? [])),
      tagIds: places.flatMap((place) => place.tags.map((tag) => tag.id)),
      placeIds: places.flatMap((place) => place.rooms.map((room) => room.id)),
      workspaceIds: places.map((place) => place.id),
    };
    const everything = { organizationId: 'o' };
    const { rows } = await listDevices(
      records,
      everything,
      { page: 0, size: devicesMax, sort: [] },
      filterNow,
    );
    const shown = await new Devices({ ...records, now: () => filterNow }).views(principal, rows);
    const rooms = places.flatMap((place) => place.rooms);
    const above = new Map(rooms.map(({ id, path }) => [id, path.map((step) => step.id)]));
    const views = shown.map((view) => ({
      ...view,
      placesAbove: above.get(view.placeId ?? '') ?? [],
    }));
    let found = 0;
    const compare = async (expression: object) => {
      const filter = await new Assets(records).filterOf(principal, {
        organizationId: 'o',
        expression,
      });
      const answered = await findDeviceIds(records.db, filter, devicesMax, filterNow);
      const expected = views.filter((view) => isMet(expression, view)).map((view) => view.id);
      if (answered.join() !== expected.sort().join()) {
        throw new Error(
          `seed ${seed}: ${JSON.stringify(expression)} found ${answered.length}, not ${expected.length}`,
        );
      }
      found += answered.length;
    };
    // Every predicate on every field once, then random ones.
    for (const [field, kind] of Object.entries(fieldKinds)) {
      for (const predicate of predicatesFor(kind))
        await compare(randomFilter(random, known, field, predicate));
    }
    for (let n = 0; n < expressions; n++) await compare(randomExpression(random, known));
    return { expressions, found, share: found / (expressions * devices) };
  } finally {
    await inventory.close();
  }
}
