// Device configurations: every version of what a device should be set to, and sending it (contract 12).
import { formatInstant } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import { type PageRequest, pageOf } from '../../model/page.ts';
import { problem } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import {
  configurationId,
  type DeviceConfiguration,
  deviceConfigurationRows,
} from '../../storage/records/rows/downlinks.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { change, found } from '../record-crud.ts';

const configurationLengthMax = 256 * 1024;

/** Sends a configuration to its device; throws when the device cannot be reached. */
export type PushConfiguration = (configuration: DeviceConfiguration) => Promise<void>;

function view(record: DeviceConfiguration) {
  return { ...record, created: formatInstant(record.created) };
}

/** Configurations of devices, each change a new version. */
export class DeviceConfigurations {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /** `workspaceId` must be the device's own when it is sent. */
  async create(
    deviceId: string,
    sent: { readonly workspaceId?: string | null | undefined; readonly configuration: JsonObject },
  ) {
    if (JSON.stringify(sent.configuration).length > configurationLengthMax) {
      throw problem('invalidRequest', {
        reason: `body configuration: must be at most ${configurationLengthMax} characters`,
      });
    }
    return change(this.#records, async (step) => {
      const { workspaceId } = found(await deviceRows.find(step, deviceId), 'device', deviceId);
      if (sent.workspaceId && sent.workspaceId !== workspaceId) {
        throw problem('invalidRequest', {
          reason: `body workspaceId: the device is in workspace ${workspaceId}`,
        });
      }
      const version = await deviceConfigurationRows.nextVersion(step.db, deviceId);
      const record = {
        deviceId,
        version,
        workspaceId,
        configuration: sent.configuration,
        created: this.#records.now(),
      };
      await deviceConfigurationRows.insert(step.db, record);
      step.announce({
        kind: 'deviceConfiguration',
        id: configurationId(record),
        action: 'created',
      });
      return view(record);
    });
  }

  /** Newest first. */
  async list(deviceId: string, page: PageRequest) {
    const { rows, total } = await deviceConfigurationRows.list(this.#records.db, deviceId, page);
    return pageOf(rows.map(view), total, page);
  }

  async read(deviceId: string, version: number | 'latest') {
    const record = await deviceConfigurationRows.find(this.#records.db, deviceId, version);
    return view(found(record, 'configuration', `${version}`));
  }

  async remove(deviceId: string, version: number): Promise<void> {
    await change(this.#records, async (step) => {
      found(
        await deviceConfigurationRows.find(step.db, deviceId, version),
        'configuration',
        `${version}`,
      );
      await deviceConfigurationRows.remove(step.db, deviceId, version);
      step.announce({
        kind: 'deviceConfiguration',
        id: configurationId({ deviceId, version }),
        action: 'deleted',
      });
    });
  }

  /** Sends the latest version. Without a way to the device it is a 409. */
  async push(
    deviceId: string,
    push: PushConfiguration | undefined,
  ): Promise<{ readonly message: string }> {
    const device = found(await deviceRows.find(this.#records, deviceId), 'device', deviceId);
    const latest = found(
      await deviceConfigurationRows.find(this.#records.db, deviceId, 'latest'),
      'configuration',
      'latest',
    );
    if (device.connectivity !== 'MQTT') {
      throw problem('configurationNotPushable', {
        reason: `only MQTT devices support it, and this device uses ${device.connectivity}`,
      });
    }
    if (push === undefined) {
      throw problem('configurationNotPushable', {
        reason: 'MQTT is disabled on this installation',
      });
    }
    await push(latest);
    return { message: 'Configuration successfully sent' };
  }
}
