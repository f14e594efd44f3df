// Control tile: sends a downlink after it was confirmed, and shows how far the last one of the device came.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Send } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import type { components } from '../../../../generated/interface-types.ts';
import { downlinkWith, enteredValue } from '../../../../../src/dashboards/control.ts';
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import { ask, platform } from '../../../api/platform.ts';
import { useDevicesById } from '../../../api/workspace-records.ts';
import { Ago } from '../../../ui/ago.tsx';
import { Button } from '../../../ui/button.tsx';
import { Chip, type Tone } from '../../../ui/chip.tsx';
import { ConfirmDialog } from '../../../ui/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../../ui/field.tsx';
import { useAction } from '../../../ui/use-action.ts';
import { useWords } from '../../../words/language.tsx';
import { controlWords } from './control-words.ts';
import own from './control-tile.module.css';
import { useTileFrame } from './tile-data.ts';
import styles from './tiles.module.css';

type Downlink = components['schemas']['Downlink'];
type DownlinkDraft = components['schemas']['DownlinkDraft'];

/** A state changes within a second or two of sending; others send too. */
const refreshMs = { underWay: 2_000, ended: 30_000 } as const;
const tones: Readonly<Record<Downlink['state'], Tone>> = {
  QUEUED: 'plain',
  SENT: 'plain',
  ACKNOWLEDGED: 'ok',
  FAILED: 'bad',
  EXPIRED: 'warn',
};

export function ControlTile({ tile }: { readonly tile: BoundTile }) {
  const words = useWords(controlWords);
  const { workspaceId, data, isEarlier } = useTileFrame();
  const isPast = data.range.at !== undefined;
  const [source, ...others] = tile.sources;
  const deviceId = source?.kind === 'DEVICE' && others.length === 0 ? source.id : undefined;
  const device = useDevicesById(workspaceId, deviceId === undefined ? [] : [deviceId]);
  if (deviceId === undefined) return <p className={styles['note']}>{words.oneDevice}</p>;
  return (
    <Control
      key={deviceId}
      tile={tile}
      deviceId={deviceId}
      name={device.get(deviceId)?.name ?? words.device}
      unsendable={isEarlier ? words.earlier : isPast ? words.past : undefined}
    />
  );
}

interface ControlProps {
  readonly tile: BoundTile;
  readonly deviceId: string;
  readonly name: string;
  /** Why nothing can be sent: the dashboard shows an earlier moment, or is an earlier version. */
  readonly unsendable: string | undefined;
}

function Control({ tile, deviceId, name, unsendable }: ControlProps) {
  const words = useWords(controlWords);
  const client = useQueryClient();
  const { input, confirm, downlink, label } = tile;
  const [entered, setEntered] = useState('');
  /** How often the reader was asked already; undefined while nothing is to be sent. */
  const [asked, setAsked] = useState<number>();
  const isPast = unsendable !== undefined;
  if (isPast && asked !== undefined) setAsked(undefined);
  const value = input ? enteredValue(input, entered) : undefined;
  const isMissing = Boolean(input) && value === undefined;
  const action = label ?? '';
  const sending = useAction({
    mutationFn: () => {
      const body = downlinkWith(downlink ?? {}, input, value) as DownlinkDraft;
      const params = { path: { id: deviceId } };
      return ask(platform.POST('/v3/devices/{id}/downlink', { params, body }));
    },
    onSuccess: () => {
      setAsked(undefined);
      return client.invalidateQueries({ queryKey: ['downlinks', deviceId] });
    },
  });
  const timesAsked = isKiosk() ? 2 : confirm === false ? 0 : 1;
  const goOn = (times: number) => {
    if (times < timesAsked) setAsked(times);
    else sending.mutate();
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // While tiles are arranged, nothing is sent.
    if (isMissing || isPast || event.currentTarget.closest('[data-editing="true"]') !== null)
      return;
    sending.reset();
    goOn(0);
  };
  const shownValue = value === undefined ? '' : words.value(input?.key ?? '', String(value));
  return (
    <form className={own['control']} onSubmit={submit} noValidate>
      {input && <InputField input={input} entered={entered} change={setEntered} />}
      <Button
        type="submit"
        look="primary"
        needs="asset: update"
        disabled={isMissing || isPast || sending.isPending}
      >
        <Send aria-hidden="true" />
        {action}
      </Button>
      {isPast ? <p className="mute">{unsendable}</p> : <LastSent deviceId={deviceId} />}
      {asked === undefined && sending.error !== null && (
        <p role="alert" className="bad">
          {sending.error.message}
        </p>
      )}
      {asked !== undefined && (
        <ConfirmDialog
          title={asked === 0 ? words.ask(action) : words.askAgain(action)}
          note={[shownValue, words.note(name)].filter(Boolean).join(' ')}
          confirmLabel={words.send}
          cancelLabel={words.cancel}
          isBusy={sending.isPending}
          error={sending.error}
          confirm={() => goOn(asked + 1)}
          close={() => setAsked(undefined)}
        />
      )}
    </form>
  );
}

/** A touch screen on a wall is touched by accident. */
function isKiosk(): boolean {
  return document.documentElement.dataset['kiosk'] === 'true';
}

interface InputFieldProps {
  readonly input: NonNullable<BoundTile['input']>;
  readonly entered: string;
  readonly change: (entered: string) => void;
}

function InputField({ input: { key, kind, min, max, options }, entered, change }: InputFieldProps) {
  const words = useWords(controlWords);
  if (kind === 'SWITCH')
    return (
      <CheckField
        label={key}
        isOn={entered === 'true'}
        change={(isOn) => change(isOn ? 'true' : '')}
      />
    );
  if (kind === 'CHOICE')
    return (
      <SelectField label={key} value={entered} onChange={({ target }) => change(target.value)}>
        <option value="" disabled>
          {words.choose}
        </option>
        {(options ?? []).map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </SelectField>
    );
  const isNumber = kind === 'NUMBER';
  return (
    <TextField
      label={key}
      autoComplete="off"
      hint={(isNumber && words.limits(min ?? undefined, max ?? undefined)) || undefined}
      {...(isNumber ? { type: 'number', step: 'any' } : { maxLength: 500 })}
      {...(isNumber && typeof min === 'number' && { min })}
      {...(isNumber && typeof max === 'number' && { max })}
      value={entered}
      onChange={({ target }) => change(target.value)}
    />
  );
}

/** Of the device, whoever sent it. */
function LastSent({ deviceId }: { readonly deviceId: string }) {
  const words = useWords(controlWords);
  const last = useQuery({
    queryKey: ['downlinks', deviceId, 'last'],
    queryFn: ({ signal }) => {
      const params = { path: { id: deviceId }, query: { size: 1 } };
      return ask(platform.GET('/v3/devices/{id}/downlinks', { signal, params }));
    },
    refetchInterval: ({ state: { data } }) => {
      const state = data?.content[0]?.state;
      return state === 'QUEUED' || state === 'SENT' ? refreshMs.underWay : refreshMs.ended;
    },
  });
  const downlink = last.data?.content[0];
  if (last.error !== null)
    return (
      <p role="alert" className="mute">
        {last.error.message}
      </p>
    );
  if (downlink === undefined)
    return <p className="mute">{last.isPending ? '' : words.nothingSent}</p>;
  return (
    <p className="row wrap gap-8" role="status">
      <Chip tone={tones[downlink.state]}>{words.states[downlink.state]}</Chip>
      <span className="mute">
        <Ago at={downlink.updated ?? downlink.created} />
        {downlink.error !== null && ` · ${downlink.error}`}
      </span>
    </p>
  );
}
