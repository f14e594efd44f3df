// Device filter: the filters of device lists (interface 4.2, contract 4).
import type { Condition } from '../../../query/filters/expression.ts';
import type { OnlineState } from '../../../model/device.ts';
import type { LoraField } from '../../../model/device-fields.ts';
import type { WorkspaceFilter } from '../list.ts';

export interface DeviceFilter extends WorkspaceFilter {
  readonly ids?: readonly string[] | undefined;
  readonly dataFlowId?: string | undefined;
  readonly connectivity?: string | undefined;
  /** Devices that carry any of these tags. */
  readonly tagIds?: readonly string[] | undefined;
  /** Devices at any of these places or below it. */
  readonly placeIds?: readonly string[] | undefined;
  readonly onlineState?: OnlineState | undefined;
  readonly online?: boolean | undefined;
  readonly integrationId?: string | undefined;
  /** Provider of the device's integration. */
  readonly provider?: string | undefined;
  /** Member `packageName` of the device's properties. */
  readonly packageName?: string | undefined;
  /** Devices that have a value of any of these custom fields. */
  readonly customFieldIds?: readonly string[] | undefined;
  /** LoRa properties by dotted name, in any case. */
  readonly lora?: Readonly<Partial<Record<LoraField, string>>> | undefined;
  readonly condition?: Condition | undefined;
}
