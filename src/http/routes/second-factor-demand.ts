// Routes of the second factor that an organization demands, and of its reset for a member.
import { secondFactorDemand } from '../../contract/second-factor-demand.ts';
import {
  changeSecondFactorDemand,
  readSecondFactorDemand,
} from '../../inventory/members/second-factor-demand.ts';
import { resetSecondFactors } from '../../inventory/members/second-factor-reset.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import { byId, type RecordParts } from './record-parts.ts';

export function secondFactorDemandRoutes(parts: Pick<RecordParts, 'records'>): Route[] {
  const { records } = parts;
  const byOrganizationId = byId(parts, 'organization');
  const { read, change, reset } = secondFactorDemand;
  return [
    resourceRoute(read, byOrganizationId, ({ params }) =>
      readSecondFactorDemand(records, params.id),
    ),
    resourceRoute(change, byOrganizationId, ({ params, body }, principal) =>
      changeSecondFactorDemand(records, principal, params.id, body.secondFactorRequired),
    ),
    resourceRoute(reset, byOrganizationId, ({ params: { id, userId } }, principal) =>
      resetSecondFactors(records, principal, { organizationId: id, userId }),
    ),
  ];
}
