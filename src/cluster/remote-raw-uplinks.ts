// Remote raw uplinks: lists come from the owner of the device, which has the newest in memory.
import { problem, refusalOf } from '../model/problem.ts';
import type { RawUplink } from '../model/uplink.ts';
import type { RawUplinkPage, RawUplinkRange } from '../storage/raw-uplinks/raw-uplink-store.ts';
import {
  atOwner,
  type CallOwner,
  type DeviceOwnership,
  type HeldFor,
  type OwnedRequest,
} from './owned-devices.ts';

/** The call between nodes. */
export const rawUplinksCall = 'rawUplinks';

/** Characters of uplinks in one answer; see `remote-samples.ts`. */
const answerCharsMax = 2_000_000;

type ListUplinks = (range: RawUplinkRange) => Promise<RawUplinkPage>;

/** Asks the owner, in pieces of bounded size. Throws its Problem, or `nodeUnreachable`. */
export function listAtOwner(
  { askOwners, deviceWorkspaces }: DeviceOwnership,
  list: ListUplinks,
): ListUplinks {
  return async (range) => {
    const workspace = await deviceWorkspaces.of(range.deviceId);
    if (workspace === undefined) return list(range);
    const { workspaceId } = workspace;
    const onePiece = (left: RawUplinkRange): Promise<RawUplinkPage> => {
      const sent: OwnedRequest<RawUplinkRange> = { workspaceId, request: left };
      const ask = (call: CallOwner) => call(rawUplinksCall, sent);
      return atOwner<RawUplinkPage>(askOwners, workspaceId, ask, () => list(left));
    };
    const uplinks: RawUplink[] = [];
    for (;;) {
      const left = {
        ...range,
        skip: range.skip + uplinks.length,
        limit: range.limit - uplinks.length,
      };
      const page = await onePiece(left);
      uplinks.push(...page.uplinks);
      const isEnd = page.uplinks.length === 0 || uplinks.length >= range.limit;
      if (isEnd || left.skip + page.uplinks.length >= page.total)
        return { uplinks, total: page.total };
    }
  };
}

/** Answers the call of another node, for devices of this one. */
export function rawUplinksReceiver(heldFor: HeldFor, list: ListUplinks) {
  return async (given: unknown): Promise<unknown> => {
    const { workspaceId, request: range } = given as OwnedRequest<RawUplinkRange>;
    try {
      if (heldFor(workspaceId) === undefined) throw problem('deviceMoved');
      const { uplinks, total } = await list(range);
      return { uplinks: piece(uplinks), total };
    } catch (error) {
      return refusalOf(error);
    }
  };
}

/** At least one, when there is one. */
function piece(uplinks: readonly RawUplink[]): readonly RawUplink[] {
  let chars = 0;
  const end = uplinks.findIndex((uplink, place) => {
    chars += JSON.stringify(uplink).length;
    return chars > answerCharsMax && place > 0;
  });
  return end < 0 ? uplinks : uplinks.slice(0, end);
}
