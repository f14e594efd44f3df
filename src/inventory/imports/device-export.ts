// Device export: the devices of a workspace as a file, read page by page to limit memory (contract 4).
import {
  findCustomFields,
  customFieldsOfDevices,
} from '../../storage/records/rows/custom-fields.ts';
import { findWorkspaceDataFlows } from '../../storage/records/rows/data-flows.ts';
import type { Records } from '../../storage/records/records.ts';
import { devicesAfter } from '../../storage/records/rows/devices.ts';
import { tagsOfDevices } from '../../storage/records/rows/tags.ts';
import { csvDeviceLine, csvHead, fileDevice } from './device-file.ts';

const devicesPerRead = 500;

/** Pieces of the file's text, in order of service id. An import of it makes the same devices. */
export async function* exportDevices(
  records: Records,
  place: { readonly organizationId: string; readonly workspaceId: string },
  format: 'csv' | 'json',
): AsyncGenerator<string> {
  const { organizationId, workspaceId } = place;
  const fields = await findCustomFields(records.db, {
    organizationId,
    workspaceIds: [workspaceId],
  });
  const names = fields.map((field) => field.name);
  const flows = new Map(
    (await findWorkspaceDataFlows(records.db, workspaceId)).map(({ id, name }) => [id, name]),
  );
  yield format === 'csv' ? csvHead(names) : '[';
  let separator = '\n';
  let after = '';
  for (;;) {
    const devices = await devicesAfter(records, workspaceId, after, devicesPerRead);
    if (devices.length === 0) break;
    const ids = devices.map((device) => device.id);
    const tags = await tagsOfDevices(records.db, ids);
    const values = await customFieldsOfDevices(records.db, ids);
    let text = '';
    for (const device of devices) {
      const flowName = flows.get(device.dataFlowId) ?? device.dataFlowId;
      const inFull = {
        device,
        flowName,
        tags: tags.get(device.id) ?? [],
        customFields: values.get(device.id) ?? [],
      };
      if (format === 'csv') {
        text += csvDeviceLine(fileDevice(inFull), names);
      } else {
        text += separator + JSON.stringify(fileDevice(inFull));
        separator = ',\n';
      }
    }
    yield text;
    after = ids.at(-1)!;
  }
  if (format === 'json') yield '\n]\n';
}
