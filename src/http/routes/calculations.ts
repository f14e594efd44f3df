// Routes of group calculations (contract 38.2).
import type { Static } from 'typebox';
import { calculations, type CalculationUpdate } from '../../contract/calculations.ts';
import { draftedCalculation, Calculations } from '../../inventory/rules/calculations.ts';
import type { Calculation } from '../../model/calculation.ts';
import type { Principal } from '../../model/principal.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { alsoNeeds, resourceRoute, type Route } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';

const previewedDefault = 24;

export type PreviewCalculation = (
  calculation: Calculation,
  periods: number,
) => Promise<Static<typeof calculations.preview.response>>;

export function calculationRoutes(common: RecordRoutes, preview: PreviewCalculation): Route[] {
  const { records } = common;
  const service = new Calculations(records);
  const findCalculation = common.byId('calculation');
  return [
    ...common.crud(calculations, {
      kind: 'calculation',
      list: ({ query }, principal) =>
        service.list(principal, { ...query, ...listScopeOf(query) }, pageRequestOf(query)),
      create: (step, { body }) => new Calculations(step).create(body),
      read: (id) => service.read(id),
      update: async (id, { body }, principal) => {
        const { workspaceId } = await findCalculation({ id });
        checkReading(principal, body, workspaceId);
        return service.update(id, body);
      },
      remove: (id) => service.remove(id),
    }),
    resourceRoute(
      calculations.preview,
      ({ calculation }) => common.byWorkspace(calculation),
      async ({ body }) =>
        preview(
          await draftedCalculation(records, body.calculation),
          body.periods ?? previewedDefault,
        ),
    ),
  ];
}

/** What is read needs `asset` `read`; a new name does not. */
function checkReading(
  principal: Principal,
  { tagId, deviceIds, target, outputs }: CalculationUpdate,
  workspaceId: string | null,
): void {
  if (tagId || deviceIds || target || outputs) alsoNeeds(principal, 'asset', 'read', workspaceId);
}
