// Control fields: the device of a control tile, what it sends, and what its reader enters.
import { useState } from 'react';
import type { Tile } from '../../../../../src/dashboards/configuration.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../../../src/model/json.ts';
import { useDevicesById } from '../../../api/workspace-records.ts';
import { DevicePick } from '../../../ui/device-pick.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../../ui/field.tsx';
import { useWords } from '../../../words/language.tsx';
import { controlWords } from '../tiles/control-words.ts';
import type { ShownVariables } from '../variable-values.ts';
import { formWords } from './form-words.ts';

interface ControlFieldsProps {
  readonly workspaceId: string;
  readonly variables: ShownVariables;
  readonly tile: Tile;
  readonly change: (tile: Tile) => void;
}

export function ControlFields(props: ControlFieldsProps) {
  const { tile, change } = props;
  const words = useWords(controlWords);
  return (
    <>
      <DeviceField {...props} />
      <TextField
        label={words.label}
        required
        maxLength={200}
        value={tile.label ?? ''}
        onChange={({ target }) => change({ ...tile, label: target.value })}
      />
      <DownlinkFields {...props} />
      <InputFields {...props} />
      <CheckField
        label={words.confirm}
        isOn={tile.confirm !== false}
        change={(isOn) => change({ ...tile, confirm: isOn })}
      />
    </>
  );
}

function DeviceField({ workspaceId, variables, tile, change }: ControlFieldsProps) {
  const words = useWords(controlWords);
  const form = useWords(formWords);
  const { deviceId, variable, ...others } = tile;
  const offered = variables.variables.filter(({ kind }) => kind === 'DEVICE');
  const device = useDevicesById(workspaceId, [deviceId ?? null]).get(deviceId ?? '');
  return (
    <>
      {offered.length > 0 && (
        <SelectField
          label={form.devices}
          value={variable ?? ''}
          onChange={({ target: { value } }) =>
            change(value === '' ? others : { ...others, variable: value })
          }
        >
          <option value="">{words.oneOfDevices}</option>
          {offered.map(({ name, label }) => (
            <option key={name} value={name}>
              {form.variable(label || name)}
            </option>
          ))}
        </SelectField>
      )}
      {!variable && (
        <DevicePick
          workspaceId={workspaceId}
          label={form.device}
          chosen={device?.name ?? deviceId ?? undefined}
          choose={({ id }) => change({ ...others, deviceId: id })}
        />
      )}
    </>
  );
}

const carriers = ['mqttDownlink', 'loraDownlink'] as const;
type Carrier = (typeof carriers)[number];

type Sent = Readonly<Record<string, Json>> & {
  readonly topic?: string;
  readonly port?: number;
};

function DownlinkFields({ tile, change }: ControlFieldsProps) {
  const words = useWords(controlWords);
  const downlink = (tile.downlink ?? {}) as Readonly<Partial<Record<Carrier, Sent>>>;
  const carrier = carriers.find((one) => downlink[one] !== undefined) ?? 'mqttDownlink';
  const sent: Sent = downlink[carrier] ?? {};
  const [text, setText] = useState(() => JSON.stringify(sent['payload'] ?? {}));
  const put = (to: Carrier, next: Sent) => {
    const { mqttDownlink: _, loraDownlink: __, ...others } = tile.downlink ?? {};
    change({ ...tile, downlink: { ...others, [to]: next } });
  };
  const isWrong = objectOf(text) === undefined;
  return (
    <>
      <SelectField
        label={words.carrier}
        value={carrier}
        onChange={({ target }) => {
          const to = carriers.find((one) => one === target.value) ?? carrier;
          put(to, { payload: sent['payload'] ?? {} });
        }}
      >
        {carriers.map((one) => (
          <option key={one} value={one}>
            {words.carriers[one]}
          </option>
        ))}
      </SelectField>
      <TextArea
        label={words.payload}
        hint={words.payloadHint}
        error={isWrong ? words.payloadWrong : undefined}
        rows={3}
        required
        spellCheck={false}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          // Left out while it is no object, so that it cannot be applied.
          const { payload: _, ...others } = sent;
          const payload = objectOf(target.value);
          put(carrier, payload === undefined ? others : { ...others, payload });
        }}
      />
      {carrier === 'mqttDownlink' ? (
        <TextField
          label={words.topic}
          maxLength={500}
          value={sent.topic ?? ''}
          onChange={({ target: { value } }) => {
            const { topic: _, ...others } = sent;
            put(carrier, value === '' ? others : { ...others, topic: value });
          }}
        />
      ) : (
        <TextField
          label={words.port}
          type="number"
          min={1}
          max={223}
          defaultValue={sent.port ?? ''}
          onChange={({ target: { valueAsNumber } }) => {
            const { port: _, ...others } = sent;
            put(carrier, Number.isNaN(valueAsNumber) ? others : { ...others, port: valueAsNumber });
          }}
        />
      )}
    </>
  );
}

function objectOf(text: string): JsonObject | undefined {
  try {
    const read: unknown = JSON.parse(text);
    return isJsonObject(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

const inputKinds = ['NONE', 'NUMBER', 'SWITCH', 'CHOICE', 'TEXT'] as const;

function InputFields({ tile: { input, ...tile }, change }: ControlFieldsProps) {
  const words = useWords(controlWords);
  const put = (next: NonNullable<Tile['input']>) => change({ ...tile, input: next });
  return (
    <>
      <SelectField
        label={words.input}
        value={input?.kind ?? 'NONE'}
        onChange={({ target }) => {
          const kind = inputKinds.find((one) => one === target.value) ?? 'NONE';
          if (kind === 'NONE') change(tile);
          else put({ key: input?.key ?? '', kind });
        }}
      >
        {inputKinds.map((kind) => (
          <option key={kind} value={kind}>
            {words.inputs[kind]}
          </option>
        ))}
      </SelectField>
      {input && (
        <TextField
          label={words.inputKey}
          required
          maxLength={500}
          value={input.key}
          onChange={({ target }) => put({ ...input, key: target.value })}
        />
      )}
      {input?.kind === 'CHOICE' && (
        <TextArea
          label={words.options}
          hint={words.optionsHint}
          rows={3}
          required
          defaultValue={(input.options ?? []).join('\n')}
          onChange={({ target }) =>
            put({ ...input, options: target.value.split('\n').filter((one) => one.trim() !== '') })
          }
        />
      )}
      {input?.kind === 'NUMBER' && (
        <div className="columns gap-12">
          {(['min', 'max'] as const).map((end) => (
            <TextField
              key={end}
              label={end === 'min' ? words.least : words.greatest}
              type="number"
              step="any"
              defaultValue={input[end] ?? ''}
              onChange={({ target: { valueAsNumber } }) => {
                const { [end]: _, ...others } = input;
                put(Number.isNaN(valueAsNumber) ? others : { ...others, [end]: valueAsNumber });
              }}
            />
          ))}
        </div>
      )}
    </>
  );
}
