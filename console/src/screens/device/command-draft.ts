// Command draft: the fields of the form, what is wrong with them, and the request that they mean.
import type { components } from '../../../generated/interface-types.ts';
import { examplesIn } from '../device-types/examples.ts';

export interface CommandDraft {
  readonly form: 'json' | 'hex';
  readonly json: string;
  readonly hex: string;
  readonly topic: string;
  readonly port: string;
  readonly isConfirmed: boolean;
  readonly isReplacing: boolean;
}

type DownlinkDraft = components['schemas']['DownlinkDraft'];

export const emptyDraft: CommandDraft = {
  form: 'json',
  json: '{ "led": true }',
  hex: '',
  topic: '',
  port: '',
  isConfirmed: false,
  isReplacing: false,
};

/** A command that the encoder of a device type is tested with. */
export interface CommandExample {
  readonly name: string;
  readonly draft: CommandDraft;
}

/** Its port stays empty: the example has one for the test, and the encoder chooses its own. */
export function commandExamples(sampleData: unknown): readonly CommandExample[] {
  return examplesIn(sampleData, 'downlinkScript').flatMap(({ name, event }) => {
    const { payload, confirmed } = event;
    if (payload === undefined) return [];
    const json = JSON.stringify(payload, null, 2);
    return [{ name, draft: { ...emptyDraft, json, isConfirmed: confirmed === true } }];
  });
}

const portMax = 223;

export type CommandFault =
  | { readonly field: 'json'; readonly reason: string }
  | { readonly field: 'hex' | 'port' };

/** What must change before the draft can be sent. */
export function faultOf({ form, json, hex, port }: CommandDraft): CommandFault | undefined {
  if (form === 'hex' && !/^(?:[0-9a-f]{2})+$/i.test(withoutSpace(hex))) return { field: 'hex' };
  if (form === 'json') {
    try {
      JSON.parse(json);
    } catch (error) {
      return { field: 'json', reason: (error as Error).message };
    }
  }
  if (port.trim() === '') return undefined;
  const isPort = /^\d+$/.test(port.trim()) && Number(port) >= 1 && Number(port) <= portMax;
  return isPort ? undefined : { field: 'port' };
}

/** The body of a downlink (contract 17); the draft has no fault. */
export function downlinkOf(
  { form, json, hex, topic, port, isConfirmed, isReplacing }: CommandDraft,
  connectivity: 'MQTT' | 'LORA',
): DownlinkDraft {
  const isHex = form === 'hex';
  const content = isHex
    ? { payloadHex: withoutSpace(hex).toLowerCase() }
    : { payload: JSON.parse(json) as unknown };
  const raw = isHex ? { raw: true } : {};
  if (connectivity === 'MQTT') {
    const below = topic.trim() === '' ? {} : { topic: topic.trim() };
    return { ...raw, mqttDownlink: { ...below, ...content } };
  }
  const at = port.trim() === '' ? {} : { port: Number(port) };
  return {
    ...raw,
    loraDownlink: {
      ...at,
      ...content,
      ...(isConfirmed ? { confirmed: true } : {}),
      ...(isReplacing ? { clearQueue: true } : {}),
    },
  };
}

function withoutSpace(hex: string): string {
  return hex.replaceAll(/\s/g, '');
}
