// Routes of group calculations (contract 38.2).
import type { Static } from 'typebox';
import { calculations, type CalculationUpdate } from '../../contract/calculations.ts';
import {
  createCalculation,
  deleteCalculation,
  draftedCalculation,
  listCalculations,
  readCalculation,
  updateCalculation,
} from '../../inventory/rules/calculations.ts';
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
  const findCalculation = common.byId('calculation');
  return [
    ...common.crud(calculations, {
      kind: 'calculation',
      list: ({ query }, principal) =>
        listCalculations(
          records,
          principal,
          { ...query, ...listScopeOf(query) },
          pageRequestOf(query),
        ),
      create: (step, { body }) => createCalculation(step, body),
      read: (id) => readCalculation(records, id),
      update: async (id, { body }, principal) => {
        const { workspaceId } = await findCalculation({ id });
        checkReading(principal, body, workspaceId);
        return updateCalculation(records, id, body);
      },
      remove: (id) => deleteCalculation(records, id),
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
