// Mutes: the list of the workspace with a sentence for each, and their dialog.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Pencil, Plus, Trash2, X } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import type { components } from '../../../../generated/interface-types.ts';
import { alarmSeverities } from '../../../api/alarms.ts';
import { ask, platform } from '../../../api/platform.ts';
import { placesOf, tagsOf, useDevicesById } from '../../../api/workspace-records.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Chip } from '../../../ui/chip.tsx';
import { DevicePick } from '../../../ui/device-pick.tsx';
import { FormDialog } from '../../../ui/dialog.tsx';
import { CheckField, SelectField, TextField, toggled } from '../../../ui/field.tsx';
import { RemoveDialog } from '../../../ui/remove-record.tsx';
import { severityWords } from '../../../ui/severity-words.ts';
import { Answered, Bone, Empty } from '../../../ui/states.tsx';
import { useFormSave } from '../../../ui/use-form-save.ts';
import { browserZone } from '../../../words/formats.ts';
import { useFormats, useLanguage, useWords } from '../../../words/language.tsx';
import { instantOf, localOf, weekdayNames, zoneNames } from '../../../words/zone-times.ts';
import { NameField } from '../../../ui/name-fields.tsx';
import { useSettingsWorkspace } from '../settings-frame.tsx';
import { settingsWords } from '../settings-words.ts';
import { notificationWords } from './notification-words.ts';
import styles from '../settings.module.css';

type Mute = components['schemas']['Mute'];
type MuteBody = Omit<components['schemas']['MuteDraft'], 'workspaceId'>;

/** As many as a workspace has at most, but for those that are over. */
const mutesMax = 1_000;
const rulesMax = 1_000;
const days = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const;
type Day = (typeof days)[number];

const mutesOf = (workspaceId: string) =>
  queryOptions({
    queryKey: ['mutes', workspaceId],
    refetchInterval: 60_000,
    queryFn: ({ signal }) => {
      const query = { workspaceId, size: mutesMax, sort: 'name,asc' };
      return ask(platform.GET('/v3/mutes', { signal, params: { query } }));
    },
  });

const ruleNamesOf = (workspaceId: string) =>
  queryOptions({
    queryKey: ['rules', workspaceId, 'names'],
    queryFn: ({ signal }) => {
      const query = { workspaceId, size: rulesMax, sort: 'name,asc', fields: 'id,name' };
      return ask(platform.GET('/v3/rules', { signal, params: { query } }));
    },
  });

export function MutesCard() {
  const words = useWords(notificationWords);
  const workspaceId = useSettingsWorkspace();
  const mutes = useQuery(mutesOf(workspaceId));
  const [edited, setEdited] = useState<Mute | 'new'>();
  const [removed, setRemoved] = useState<Mute>();
  const create = (
    <Button needs="rule: create" onClick={() => setEdited('new')}>
      <Plus aria-hidden="true" />
      {words.newMute}
    </Button>
  );
  return (
    <Card title={words.mutes} note={words.mutesNote} actions={create}>
      <Answered
        answer={mutes}
        curl={{ path: `/v3/mutes?workspaceId=${workspaceId}` }}
        skeleton={<Bone width="60%" />}
      >
        {({ content }) =>
          content.length === 0 ? (
            <Empty title={words.noMutes} note={words.noMutesNote} />
          ) : (
            <ul className={styles['records']} aria-label={words.mutes}>
              {content.map((mute) => (
                <MuteItem
                  key={mute.id}
                  mute={mute}
                  edit={() => setEdited(mute)}
                  remove={() => setRemoved(mute)}
                />
              ))}
            </ul>
          )
        }
      </Answered>
      {edited !== undefined && (
        <MuteDialog
          workspaceId={workspaceId}
          mute={edited === 'new' ? undefined : edited}
          close={() => setEdited(undefined)}
        />
      )}
      {removed !== undefined && (
        <RemoveDialog
          name={removed.name}
          note={words.removeMuteNote}
          send={() =>
            ask(platform.DELETE('/v3/mutes/{id}', { params: { path: { id: removed.id } } }))
          }
          lists={[
            ['mutes', workspaceId],
            ['alarms', workspaceId],
          ]}
          close={() => setRemoved(undefined)}
        />
      )}
    </Card>
  );
}

interface MuteItemProps {
  readonly mute: Mute;
  readonly edit: () => void;
  readonly remove: () => void;
}

function MuteItem({ mute, edit, remove }: MuteItemProps) {
  const words = useWords(notificationWords);
  const common = useWords(settingsWords);
  return (
    <li>
      <div className="row wrap gap-8">
        <strong className="grow breaks">{mute.name}</strong>
        <MuteState mute={mute} />
        <IconButton
          label={common.edit(mute.name)}
          icon={Pencil}
          needs="rule: update"
          onClick={edit}
        />
        <IconButton
          label={common.deleteNamed(mute.name)}
          icon={Trash2}
          needs="rule: delete"
          onClick={remove}
        />
      </div>
      <p>
        <MutedAlarms mute={mute} />
        {', '}
        <WindowText mute={mute} />
      </p>
      {mute.reason !== null && (
        <p className="mute text-small">
          {words.reason}: {mute.reason}
        </p>
      )}
    </li>
  );
}

function MuteState({ mute }: { readonly mute: Mute }) {
  const words = useWords(notificationWords);
  const { instant } = useFormats();
  const zone = mute.weekly?.timeZone ?? browserZone;
  if (!mute.active) return <Chip>{words.off}</Chip>;
  if (mute.mutesUntil !== null)
    return <Chip tone="warn">{words.mutedUntil(instant(mute.mutesUntil, zone))}</Chip>;
  if (mute.nextStart !== null) return <Chip>{words.nextFrom(instant(mute.nextStart, zone))}</Chip>;
  return <Chip>{words.over}</Chip>;
}

/** When it mutes, as the end of a sentence. */
function WindowText({ mute: { once, weekly } }: { readonly mute: Mute }) {
  const words = useWords(notificationWords);
  const names = useDayNames();
  const { instant } = useFormats();
  if (once !== null) return words.sentenceOnce(instant(once.from), instant(once.to));
  if (weekly === null) return null;
  const on = weekly.days.map((day) => names[days.indexOf(day)] ?? day).join(', ');
  return words.sentenceWeekly(on, weekly.from, weekly.to, weekly.timeZone);
}

function useDayNames(): readonly string[] {
  return weekdayNames(useLanguage().language);
}

/** What is muted, with links to it; what was deleted says so. */
function MutedAlarms({ mute }: { readonly mute: Mute }) {
  const words = useWords(notificationWords);
  const { severities } = useWords(severityWords);
  const { workspaceId, what, severityBelow } = mute;
  const { ruleIds = [], tagIds = [], placeIds = [], deviceIds = [], alarmKeys = [] } = what;
  const rules = useQuery({ ...ruleNamesOf(workspaceId), enabled: ruleIds.length > 0 }).data;
  const tags = useQuery({ ...tagsOf(workspaceId), enabled: tagIds.length > 0 }).data;
  const places = useQuery({ ...placesOf(workspaceId), enabled: placeIds.length > 0 }).data;
  const devices = useDevicesById(workspaceId, deviceIds.slice(0, shownMax));
  const nameIn = (list: readonly { readonly id: string; readonly name: string }[] | undefined) => {
    return (id: string) => list?.find((one) => one.id === id)?.name ?? words.deleted;
  };
  const things: readonly ReactNode[] = [
    ...ruleIds.map((ruleId) => (
      <Link key={ruleId} to="/w/$workspaceId/rules/$ruleId/edit" params={{ workspaceId, ruleId }}>
        {nameIn(rules?.content)(ruleId)}
      </Link>
    )),
    ...tagIds.map((id) => (
      <Link key={id} to="/w/$workspaceId/settings/tags" params={{ workspaceId }}>
        {nameIn(tags?.content)(id)}
      </Link>
    )),
    ...placeIds.map((placeId) => (
      <Link key={placeId} to="/w/$workspaceId/places/$placeId" params={{ workspaceId, placeId }}>
        {nameIn(places)(placeId)}
      </Link>
    )),
    ...deviceIds.map((deviceId) => (
      <Link
        key={deviceId}
        to="/w/$workspaceId/devices/$deviceId"
        params={{ workspaceId, deviceId }}
      >
        {devices.get(deviceId)?.name ?? words.deleted}
      </Link>
    )),
    ...(alarmKeys.length > 0 ? [words.ofKeys(alarmKeys.length)] : []),
  ];
  const more = things.length - shownMax;
  const shown = things.slice(0, shownMax).map((thing, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: they never change their order
    <span key={at}>
      {at > 0 && ', '}
      {thing}
    </span>
  ));
  return (
    <>
      {severityBelow !== null && `${words.belowOne(severities[severityBelow])}: `}
      {what.all === true ? words.mutesAll : words.mutesOf}
      {shown}
      {more > 0 && ` +${more}`}
    </>
  );
}

const shownMax = 5;

// Dialog of a mute.

interface MuteDialogProps {
  readonly workspaceId: string;
  /** None for a new one. */
  readonly mute: Mute | undefined;
  readonly close: () => void;
}

function MuteDialog({ workspaceId, mute, close }: MuteDialogProps) {
  const words = useWords(notificationWords);
  const common = useWords(settingsWords);
  const { severities } = useWords(severityWords);
  const [what, setWhat] = useState<Mute['what']>(mute?.what ?? { all: true });
  const [below, setBelow] = useState(mute?.severityBelow ?? '');
  const [isActive, setActive] = useState(mute?.active ?? true);
  const [when, setWhen] = useState(() => windowInput(mute));
  const { save, faultOf, isBusy, error } = useFormSave({
    send: ({ name, reason }: { readonly name: string; readonly reason: string }) => {
      const severityBelow = alarmSeverities.find((one) => one === below) ?? null;
      const body: MuteBody = {
        name,
        reason: reason === '' ? null : reason,
        what,
        severityBelow,
        active: isActive,
        ...windowOf(when, mute),
      };
      if (mute === undefined)
        return ask(platform.POST('/v3/mutes', { body: { ...body, workspaceId } }));
      const { id, version } = mute;
      return ask(
        platform.PUT('/v3/mutes/{id}', { params: { path: { id } }, body: { ...body, version } }),
      );
    },
    fields: ['name', 'reason'],
    refreshes: [
      ['mutes', workspaceId],
      ['alarms', workspaceId],
    ],
    message: ({ name }) => words.muteSaved(name),
    close,
  });
  const isSome = Object.values(what).some(
    (of) => of === true || (Array.isArray(of) && of.length > 0),
  );
  return (
    <FormDialog
      isWide
      title={mute === undefined ? words.newMute : common.edit(mute.name)}
      submitLabel={common.save}
      isBusy={isBusy}
      isIncomplete={!isSome || !isWindow(when)}
      error={error}
      submit={(given) =>
        save({
          name: String(given.get('name')).trim(),
          reason: String(given.get('reason')).trim(),
        })
      }
      close={close}
    >
      <NameField value={mute?.name} error={faultOf('name')} />
      <WhatInputs workspaceId={workspaceId} what={what} change={setWhat} />
      <SelectField
        label={words.below}
        value={below}
        onChange={({ currentTarget }) => setBelow(currentTarget.value)}
      >
        <option value="">{words.allSeverities}</option>
        {alarmSeverities.slice(0, -1).map((one) => (
          <option key={one} value={one}>
            {words.belowOne(severities[one])}
          </option>
        ))}
      </SelectField>
      <WindowInputs when={when} change={setWhen} />
      <TextField
        label={words.reason}
        name="reason"
        maxLength={500}
        autoComplete="off"
        defaultValue={mute?.reason ?? ''}
        error={faultOf('reason')}
      />
      <CheckField label={words.isActive} isOn={isActive} change={setActive} />
    </FormDialog>
  );
}

interface WhatInputsProps {
  readonly workspaceId: string;
  readonly what: Mute['what'];
  readonly change: (what: Mute['what']) => void;
}

function WhatInputs({ workspaceId, what, change }: WhatInputsProps) {
  const words = useWords(notificationWords);
  const rules = useQuery(ruleNamesOf(workspaceId)).data?.content ?? [];
  const tags = useQuery(tagsOf(workspaceId)).data?.content ?? [];
  const places = useQuery(placesOf(workspaceId)).data ?? [];
  const { ruleIds = [], tagIds = [], placeIds = [], deviceIds = [], alarmKeys = [] } = what;
  const isAll = what.all === true;
  return (
    <>
      <SelectField
        label={words.what}
        value={isAll ? 'all' : 'some'}
        onChange={({ currentTarget }) => change(currentTarget.value === 'all' ? { all: true } : {})}
      >
        <option value="all">{words.whats.all}</option>
        <option value="some">{words.whats.some}</option>
      </SelectField>
      {!isAll && (
        <>
          <Chosen
            label={words.add.rules}
            choices={rules}
            ids={ruleIds}
            change={(ids) => change({ ...what, ruleIds: ids })}
          />
          <Chosen
            label={words.add.tags}
            choices={tags}
            ids={tagIds}
            change={(ids) => change({ ...what, tagIds: ids })}
          />
          <Chosen
            label={words.add.places}
            choices={places.map(({ id, path }) => ({ id, name: path }))}
            ids={placeIds}
            change={(ids) => change({ ...what, placeIds: ids })}
          />
          <ChosenDevices
            workspaceId={workspaceId}
            ids={deviceIds}
            change={(ids) => change({ ...what, deviceIds: ids })}
          />
          <ChosenKeys
            workspaceId={workspaceId}
            keys={alarmKeys}
            change={(keys) => change({ ...what, alarmKeys: keys })}
          />
        </>
      )}
    </>
  );
}

interface ChosenProps {
  readonly label: string;
  readonly choices: readonly { readonly id: string; readonly name: string }[];
  readonly ids: readonly string[];
  readonly change: (ids: string[]) => void;
}

/** Records that are chosen, and a list of those that are not. */
function Chosen({ label, choices, ids, change }: ChosenProps) {
  const words = useWords(notificationWords);
  const nameOf = (id: string) => choices.find((one) => one.id === id)?.name ?? words.deleted;
  return (
    <div className="stack gap-8">
      <SelectField
        label={label}
        value=""
        onChange={({ currentTarget: { value } }) => value !== '' && change([...ids, value])}
      >
        <option value="">{words.choose}</option>
        {choices
          .filter(({ id }) => !ids.includes(id))
          .map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
      </SelectField>
      <Removable items={ids.map((id) => ({ id, name: nameOf(id) }))} change={change} />
    </div>
  );
}

interface ChosenDevicesProps {
  readonly workspaceId: string;
  readonly ids: readonly string[];
  readonly change: (ids: string[]) => void;
}

/** Devices are too many for a list: they are searched for. */
function ChosenDevices({ workspaceId, ids, change }: ChosenDevicesProps) {
  const words = useWords(notificationWords);
  const [added, setAdded] = useState<ReadonlyMap<string, string>>(new Map());
  const stored = useDevicesById(workspaceId, ids);
  const nameOf = (id: string) => added.get(id) ?? stored.get(id)?.name ?? words.deleted;
  return (
    <div className="stack gap-8">
      <DevicePick
        workspaceId={workspaceId}
        label={words.add.devices}
        choose={({ id, name }) => {
          setAdded(new Map(added).set(id, name));
          if (!ids.includes(id)) change([...ids, id]);
        }}
      />
      <Removable items={ids.map((id) => ({ id, name: nameOf(id) }))} change={change} />
    </div>
  );
}

interface ChosenKeysProps {
  readonly workspaceId: string;
  readonly keys: readonly string[];
  readonly change: (keys: string[]) => void;
}

/** Alarm keys as typed, with those of the newest alarms offered. */
function ChosenKeys({ workspaceId, keys, change }: ChosenKeysProps) {
  const words = useWords(notificationWords);
  const listId = useId();
  const [typed, setTyped] = useState('');
  const alarms = useQuery(newestKeys(workspaceId)).data ?? [];
  const add = () => {
    const key = typed.trim();
    setTyped('');
    if (key !== '' && !keys.includes(key)) change([...keys, key]);
  };
  return (
    <div className="stack gap-8">
      <TextField
        label={words.add.keys}
        hint={words.keysHint}
        list={listId}
        maxLength={keyCharactersMax}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        onBlur={add}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          add();
        }}
      />
      <datalist id={listId}>
        {alarms.map(({ key, name }) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </datalist>
      <Removable items={keys.map((key) => ({ id: key, name: key }))} change={change} />
    </div>
  );
}

const keyCharactersMax = 500;
const newestMax = 100;

const newestKeys = (workspaceId: string) =>
  queryOptions({
    queryKey: ['alarms', workspaceId, 'keys'],
    queryFn: async ({ signal }) => {
      const query = { workspaceId, size: newestMax };
      const { content } = await ask(platform.GET('/v3/alarms', { signal, params: { query } }));
      return [...new Map(content.map((alarm) => [alarm.key, alarm])).values()];
    },
  });

interface RemovableProps {
  readonly items: readonly { readonly id: string; readonly name: string }[];
  readonly change: (ids: string[]) => void;
}

/** What is chosen; a press removes it. */
function Removable({ items, change }: RemovableProps) {
  const words = useWords(notificationWords);
  if (items.length === 0) return null;
  return (
    <span className={`flow wrap gap-8 ${styles['chosen']}`}>
      {items.map(({ id, name }) => (
        <Button
          key={id}
          aria-label={words.removeNamed(name)}
          onClick={() => change(items.flatMap((other) => (other.id === id ? [] : [other.id])))}
        >
          <span className="ellipsis">{name}</span>
          <X aria-hidden="true" />
        </Button>
      ))}
    </span>
  );
}

// Windows as fields show them: one in the time of the browser, weekly ones in their zone.

interface WindowInput {
  readonly kind: 'once' | 'weekly';
  readonly from: string;
  readonly to: string;
  readonly days: readonly Day[];
  readonly start: string;
  readonly end: string;
  readonly zone: string;
}

const hourMs = 3_600_000;

function windowInput(mute: Mute | undefined): WindowInput {
  const now = Math.floor(Date.now() / 60_000) * 60_000;
  const { once, weekly } = mute ?? { once: null, weekly: null };
  return {
    kind: weekly === null ? 'once' : 'weekly',
    from: localOf(once?.from ?? new Date(now).toISOString(), browserZone),
    to: localOf(once?.to ?? new Date(now + 4 * hourMs).toISOString(), browserZone),
    days: weekly?.days ?? days.slice(0, 5),
    start: weekly?.from ?? '22:00',
    end: weekly?.to ?? '06:00',
    zone: weekly?.timeZone ?? browserZone,
  };
}

function windowOf(when: WindowInput, mute: Mute | undefined): Pick<MuteBody, 'once' | 'weekly'> {
  const { kind, from, to, start, end, zone } = when;
  if (kind === 'weekly')
    return { weekly: { days: [...when.days], from: start, to: end, timeZone: zone } };
  return {
    once: {
      from: instantOf(from, browserZone, mute?.once?.from),
      to: instantOf(to, browserZone, mute?.once?.to),
    },
  };
}

function isWindow({ kind, from, to, days: chosen, start, end }: WindowInput): boolean {
  return kind === 'once'
    ? from !== '' && to > from
    : chosen.length > 0 && start !== '' && end !== '';
}

interface WindowInputsProps {
  readonly when: WindowInput;
  readonly change: (when: WindowInput) => void;
}

function WindowInputs({ when, change }: WindowInputsProps) {
  const words = useWords(notificationWords);
  const common = useWords(settingsWords);
  const names = useDayNames();
  const set = (part: Partial<WindowInput>) => change({ ...when, ...part });
  return (
    <>
      <SelectField
        label={words.when}
        value={when.kind}
        onChange={({ currentTarget }) =>
          set({ kind: currentTarget.value === 'weekly' ? 'weekly' : 'once' })
        }
      >
        {(['once', 'weekly'] as const).map((one) => (
          <option key={one} value={one}>
            {words.whens[one]}
          </option>
        ))}
      </SelectField>
      {when.kind === 'once' ? (
        <div className={styles['times']}>
          <TextField
            label={words.start}
            type="datetime-local"
            value={when.from}
            onChange={({ currentTarget }) => set({ from: currentTarget.value })}
          />
          <TextField
            label={words.end}
            type="datetime-local"
            value={when.to}
            onChange={({ currentTarget }) => set({ to: currentTarget.value })}
          />
        </div>
      ) : (
        <>
          <fieldset>
            <legend className="mute">{words.days}</legend>
            <div className="flow wrap gap-12">
              {days.map((day, at) => (
                <CheckField
                  key={day}
                  label={names[at] ?? day}
                  isOn={when.days.includes(day)}
                  change={(isOn) => set({ days: toggled(when.days, day, isOn) })}
                />
              ))}
            </div>
          </fieldset>
          <div className={styles['times']}>
            <TextField
              label={words.start}
              type="time"
              value={when.start}
              onChange={({ currentTarget }) => set({ start: currentTarget.value })}
            />
            <TextField
              label={words.end}
              hint={words.endHint}
              type="time"
              value={when.end}
              onChange={({ currentTarget }) => set({ end: currentTarget.value })}
            />
          </div>
          <SelectField
            label={common.zone}
            value={when.zone}
            onChange={({ currentTarget }) => set({ zone: currentTarget.value })}
          >
            {[...new Set([when.zone, 'UTC', ...zoneNames])].map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </SelectField>
        </>
      )}
    </>
  );
}
