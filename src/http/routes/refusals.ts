// Routes of refused uplinks: lists, proposals and registration (contract 39.3).
import { refusals, type RegistrationDraft } from '../../contract/raw-uplinks.ts';
import {
  forgetRefusals,
  nameOfRefused,
  readRefusals,
  refusalCandidates,
  type Registered,
  registerRefused,
} from '../../inventory/data-flows/refusals.ts';
import { Devices } from '../../inventory/devices/devices.ts';
import type { Inventory } from '../../inventory/record-crud.ts';
import type { Principal } from '../../model/principal.ts';
import { takeRefused, type TakeRefusedParts, type RefusalTrials } from '../../uplinks/refusals.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, type Route, type RouteInput } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';

type Of = Parameters<typeof readRefusals>[1];
type Params = { readonly id: string; readonly refusalId: string };

export function refusalRoutes(
  common: RecordRoutes,
  trials: RefusalTrials,
  taking: TakeRefusedParts,
): Route[] {
  const { records } = common;
  const ofConnector = common.byId('deviceConnector');
  const ofWorkspace = common.byId('workspace');
  const connector = (id: string): Of => ({ connectorId: id });
  const workspace = (id: string): Of => ({ workspaceId: id });
  return [
    resourceRoute(refusals.listOfConnector, ofConnector, ({ params, query }, principal) =>
      readRefusals(records, connector(params.id), pageRequestOf(query), principal),
    ),
    resourceRoute(refusals.listOfWorkspace, ofWorkspace, ({ params, query }, principal) =>
      readRefusals(records, workspace(params.id), pageRequestOf(query), principal),
    ),
    resourceRoute(refusals.clearConnector, ofConnector, ({ params: { id } }) =>
      forgetRefusals(records, connector(id)),
    ),
    resourceRoute(refusals.clearWorkspace, ofWorkspace, ({ params: { id } }) =>
      forgetRefusals(records, workspace(id)),
    ),
    resourceRoute(refusals.removeOfConnector, ofConnector, ({ params: { id, refusalId } }) =>
      forgetRefusals(records, connector(id), refusalId),
    ),
    resourceRoute(refusals.removeOfWorkspace, ofWorkspace, ({ params: { id, refusalId } }) =>
      forgetRefusals(records, workspace(id), refusalId),
    ),
    resourceRoute(refusals.proposalOfConnector, ofConnector, ({ params }, principal) =>
      proposal(records, trials, connector(params.id), params.refusalId, principal),
    ),
    resourceRoute(refusals.proposalOfWorkspace, ofWorkspace, ({ params }, principal) =>
      proposal(records, trials, workspace(params.id), params.refusalId, principal),
    ),
    resourceRoute(refusals.registerOfConnector, ofConnector, (input, principal) =>
      register(common, taking, connector(input.params.id), input, principal),
    ),
    resourceRoute(refusals.registerOfWorkspace, ofWorkspace, (input, principal) =>
      register(common, taking, workspace(input.params.id), input, principal),
    ),
  ];
}

async function proposal(
  records: Inventory,
  trials: RefusalTrials,
  of: Of,
  id: string,
  principal: Principal,
) {
  const found = await refusalCandidates(records, of, id, principal);
  const { refusal, connector, flows, similar } = found;
  const tried = await trials.tryTypes(refusal, connector, found.types);
  const name = nameOfRefused(refusal);
  return { deviceId: refusal.deviceId, name, ...tried, dataFlows: flows, similar };
}

async function register(
  common: RecordRoutes,
  taking: TakeRefusedParts,
  of: Of,
  input: RouteInput<Params, unknown, RegistrationDraft>,
  principal: Principal,
) {
  const { records } = common;
  const { params, body: draft } = input;
  const made: Registered[] = [];
  const device = await common.createdOnce(
    input,
    principal,
    async (step) => {
      const registered = await registerRefused(step, principal, {
        of,
        id: params.refusalId,
        draft,
      });
      made.push(registered);
      return new Devices(step).read(principal, registered.device.id);
    },
    (id) => new Devices(records).read(principal, id),
  );
  const [registered] = made;
  if (registered === undefined || draft.replay === false) return device;
  await takeRefused(registered.refusal, device.id, taking);
  return new Devices(records).read(principal, device.id);
}
