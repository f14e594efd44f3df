// Route of the demo workspace (contract 37).
import type { IncomingHttpHeaders } from 'node:http';
import { workspaces } from '../../contract/workspaces.ts';
import type { WantedDemo } from '../../operations/demo-workspaces.ts';
import {
  ensureDemoWorkspace,
  keepDemoDeviceTypes,
} from '../../inventory/workspaces/demo-workspace.ts';
import { readWorkspace } from '../../inventory/workspaces/workspaces.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import { byOrganization, type RecordParts } from './record-parts.ts';

interface DemoWorkspaceParts extends Pick<RecordParts, 'records'> {
  /** Resolves when the records exist; returns the new device types. */
  readonly startDemo: (wanted: WantedDemo) => Promise<readonly string[]>;
}

/** Records are created by requests with the credential of the caller. */
const credentialHeaders = ['x-api-key', 'authorization', 'cookie', 'x-csrf-token'] as const;

export function demoWorkspaceRoute({ records, startDemo }: DemoWorkspaceParts): Route {
  return resourceRoute(
    workspaces.demo,
    (body, principal) =>
      byOrganization({ organizationId: body?.organizationId ?? principal.organizationId }),
    async ({ body, headers, requestId }, principal) => {
      const organizationId = body?.organizationId ?? principal.organizationId;
      const workspaceId = await ensureDemoWorkspace(records, organizationId);
      const credential = { ...credentialOf(headers), 'x-request-id': requestId };
      const created = await startDemo({ organizationId, workspaceId, headers: credential });
      await keepDemoDeviceTypes(records, workspaceId, created);
      return readWorkspace(records, workspaceId);
    },
  );
}

function credentialOf(headers: IncomingHttpHeaders): Record<string, string> {
  const sent = credentialHeaders.map((name) => [name, headers[name]] as const);
  return Object.fromEntries(
    sent.filter((pair): pair is readonly [(typeof pair)[0], string] => typeof pair[1] === 'string'),
  );
}
