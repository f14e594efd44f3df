// Notifications of a workspace: who is on call, and when alarms are muted (contract 39.4).
import { useQuery } from '@tanstack/react-query';
import { Pencil, Plus, Trash2, X } from 'lucide-react';
import { useState } from 'react';
import { SettingsFrame, useSettingsWorkspace } from '../settings-frame.tsx';
import { MutesCard } from './mutes.tsx';
import { aboutQuery, ask, platform } from '../../../api/platform.ts';
import { type OnCall, onCallOrders, type Shift, shiftsOf } from '../../../api/on-call.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { FormDialog } from '../../../ui/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../../ui/field.tsx';
import { RemoveDialog } from '../../../ui/remove-record.tsx';
import { Answered, Bone, Empty } from '../../../ui/states.tsx';
import { useFormSave } from '../../../ui/use-form-save.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import { browserZone } from '../../../words/formats.ts';
import { instantOf, localOf, zoneNames } from '../../../words/zone-times.ts';
import { NameField } from '../../../ui/name-fields.tsx';
import { settingsWords } from '../settings-words.ts';
import { notificationWords } from './notification-words.ts';
import styles from '../settings.module.css';

export function Notifications() {
  return (
    <SettingsFrame
      tab="notifications"
      curl={(workspaceId) => ({ path: `/v3/on-call?workspaceId=${workspaceId}` })}
    >
      <OnCallCard />
      <MutesCard />
    </SettingsFrame>
  );
}

// On call: the orders of the workspace with who is on call now and in the coming week, and their dialog.

export function OnCallCard() {
  const words = useWords(notificationWords);
  const workspaceId = useSettingsWorkspace();
  const orders = useQuery(onCallOrders(workspaceId));
  const sendsMail = useQuery(aboutQuery).data?.features.mail;
  const [edited, setEdited] = useState<OnCall | 'new'>();
  const [removed, setRemoved] = useState<OnCall>();
  const create = (
    <Button needs="rule: create" onClick={() => setEdited('new')}>
      <Plus aria-hidden="true" />
      {words.newOrder}
    </Button>
  );
  return (
    <Card title={words.onCall} note={words.onCallNote} actions={create}>
      {sendsMail === false && <p className={`mute ${styles['noMail']}`}>{words.noMail}</p>}
      <Answered
        answer={orders}
        curl={{ path: `/v3/on-call?workspaceId=${workspaceId}` }}
        skeleton={<Bone width="60%" />}
      >
        {({ content }) =>
          content.length === 0 ? (
            <Empty title={words.noOrders} note={words.noOrdersNote} />
          ) : (
            <ul className={styles['records']} aria-label={words.onCall}>
              {content.map((order) => (
                <OrderItem
                  key={order.id}
                  order={order}
                  edit={() => setEdited(order)}
                  remove={() => setRemoved(order)}
                />
              ))}
            </ul>
          )
        }
      </Answered>
      {edited !== undefined && (
        <OrderDialog
          workspaceId={workspaceId}
          order={edited === 'new' ? undefined : edited}
          close={() => setEdited(undefined)}
        />
      )}
      {removed !== undefined && (
        <RemoveDialog
          name={removed.name}
          note={words.removeOrderNote}
          send={() =>
            ask(platform.DELETE('/v3/on-call/{id}', { params: { path: { id: removed.id } } }))
          }
          lists={[['on-call', workspaceId]]}
          close={() => setRemoved(undefined)}
        />
      )}
    </Card>
  );
}

interface OrderItemProps {
  readonly order: OnCall;
  readonly edit: () => void;
  readonly remove: () => void;
}

function OrderItem({ order, edit, remove }: OrderItemProps) {
  const words = useWords(notificationWords);
  const common = useWords(settingsWords);
  const shifts = useQuery(shiftsOf(order.workspaceId, order)).data;
  return (
    <li>
      <div className="row wrap gap-8">
        <strong className="grow breaks">{order.name}</strong>
        <IconButton
          label={common.edit(order.name)}
          icon={Pencil}
          needs="rule: update"
          onClick={edit}
        />
        <IconButton
          label={common.deleteNamed(order.name)}
          icon={Trash2}
          needs="rule: delete"
          onClick={remove}
        />
      </div>
      {shifts === undefined ? <Bone width="50%" /> : <Shifts order={order} shifts={shifts} />}
      {order.formerMembers.length > 0 && (
        <p className="mute text-small">{words.left(order.formerMembers.join(', '))}</p>
      )}
    </li>
  );
}

const weekMs = 7 * 86_400_000;

function Shifts({ order, shifts }: { readonly order: OnCall; readonly shifts: readonly Shift[] }) {
  const words = useWords(notificationWords);
  const { instant } = useFormats();
  const { timeZone } = order;
  const [now, next] = shifts;
  if (now === undefined) return null;
  const nameOf = ({ email }: Shift) => email ?? words.nobody;
  const said = [
    words.now(nameOf(now)),
    ...(now.to === undefined ? [] : [words.until(instant(now.to, timeZone))]),
    ...(next === undefined ? [] : [words.afterwards(nameOf(next))]),
  ];
  const start = Date.parse(now.from);
  const share = ({ from, to }: Shift) => {
    const end = to === undefined ? start + weekMs : Math.min(Date.parse(to), start + weekMs);
    return Math.max(0, end - Date.parse(from)) / weekMs;
  };
  return (
    <>
      <p>{said.join(', ')}</p>
      {now.email === null && <p className="mute">{words.nobodyNote}</p>}
      <div className={styles['week']} aria-hidden="true">
        {shifts.map((shift) => (
          <span key={shift.from} style={{ flex: `${share(shift)} 1 0` }} title={nameOf(shift)}>
            {nameOf(shift)}
          </span>
        ))}
      </div>
      <ul className="stack gap-2 mute text-small" aria-label={words.week}>
        {shifts.map((shift) => (
          <li key={shift.from} className="breaks">
            <span className="num">
              {instant(shift.from, timeZone)} –{' '}
              {shift.to === undefined ? words.forGood : instant(shift.to, timeZone)}
            </span>{' '}
            {nameOf(shift)}
          </li>
        ))}
      </ul>
    </>
  );
}

// Dialog of an order.

interface OrderDialogProps {
  readonly workspaceId: string;
  /** None for a new one. */
  readonly order: OnCall | undefined;
  readonly close: () => void;
}

/** Times as clocks of the zone of the order show them. */
interface OverrideInput {
  readonly key: string;
  readonly email: string;
  readonly from: string;
  readonly to: string;
  /** As it is stored; none for a new one. */
  readonly before?: { readonly from: string; readonly to: string };
}

/** The next full hour, for a new order. */
const nextHour = (zone: string) =>
  localOf(new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000).toISOString(), zone);

function OrderDialog({ workspaceId, order, close }: OrderDialogProps) {
  const words = useWords(notificationWords);
  const common = useWords(settingsWords);
  const [zone, setZone] = useState(order?.timeZone ?? browserZone);
  const [people, setPeople] = useState((order?.order ?? []).join('\n'));
  const [turn, setTurn] = useState(order?.turn ?? 'P1W');
  const [start, setStart] = useState(
    order === undefined ? nextHour(browserZone) : localOf(order.startsAt, order.timeZone),
  );
  const [overrides, setOverrides] = useState<readonly OverrideInput[]>(
    (order?.overrides ?? []).map(({ email, from, to }) => ({
      key: from,
      email,
      from: localOf(from, zone),
      to: localOf(to, zone),
      before: { from, to },
    })),
  );
  const { save, faultOf, isBusy, error } = useFormSave({
    send: (name: string) => {
      const body = {
        name,
        timeZone: zone,
        order: people.split(/[\s,;]+/).filter((one) => one !== ''),
        turn,
        startsAt: instantOf(start, zone, order?.startsAt),
        overrides: overrides.map(({ email, from, to, before }) => ({
          email,
          from: instantOf(from, zone, before?.from),
          to: instantOf(to, zone, before?.to),
        })),
      };
      if (order === undefined)
        return ask(platform.POST('/v3/on-call', { body: { ...body, workspaceId } }));
      const { id, version } = order;
      return ask(
        platform.PUT('/v3/on-call/{id}', { params: { path: { id } }, body: { ...body, version } }),
      );
    },
    fields: ['name', 'order', 'startsAt', 'overrides'],
    refreshes: [['on-call', workspaceId]],
    message: ({ name }) => words.orderSaved(name),
    close,
  });
  const isComplete =
    people.trim() !== '' &&
    start !== '' &&
    overrides.every(({ email, from, to }) => email !== '' && from !== '' && to !== '');
  return (
    <FormDialog
      isWide
      title={order === undefined ? words.newOrder : common.edit(order.name)}
      submitLabel={common.save}
      isBusy={isBusy}
      isIncomplete={!isComplete}
      error={error}
      submit={(given) => save(String(given.get('name')).trim())}
      close={close}
    >
      <NameField value={order?.name} error={faultOf('name')} />
      <TextArea
        label={words.order}
        hint={words.orderHint}
        error={faultOf('order')}
        rows={4}
        value={people}
        onChange={({ currentTarget }) => setPeople(currentTarget.value)}
      />
      <div className={styles['times']}>
        <SelectField
          label={words.turn}
          value={turn}
          onChange={({ currentTarget }) => setTurn(currentTarget.value === 'P1D' ? 'P1D' : 'P1W')}
        >
          {(['P1D', 'P1W'] as const).map((one) => (
            <option key={one} value={one}>
              {words.turns[one]}
            </option>
          ))}
        </SelectField>
        <SelectField
          label={common.zone}
          value={zone}
          onChange={({ currentTarget }) => setZone(currentTarget.value)}
        >
          {[...new Set([zone, 'UTC', ...zoneNames])].map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </SelectField>
      </div>
      <TextField
        label={words.startsAt}
        hint={words.startsAtHint}
        error={faultOf('startsAt')}
        type="datetime-local"
        value={start}
        onChange={({ currentTarget }) => setStart(currentTarget.value)}
      />
      <Overrides overrides={overrides} change={setOverrides} error={faultOf('overrides')} />
    </FormDialog>
  );
}

interface OverridesProps {
  readonly overrides: readonly OverrideInput[];
  readonly change: (overrides: readonly OverrideInput[]) => void;
  readonly error: string | undefined;
}

function Overrides({ overrides, change, error }: OverridesProps) {
  const words = useWords(notificationWords);
  const replace = (at: number, part: Partial<OverrideInput>) => {
    const row = overrides[at];
    if (row !== undefined) change(overrides.with(at, { ...row, ...part }));
  };
  const add = () =>
    change([...overrides, { key: crypto.randomUUID(), email: '', from: '', to: '' }]);
  return (
    <fieldset className="stack gap-8">
      <legend className="mute">{words.overrides}</legend>
      {overrides.map(({ key, email, from, to }, at) => (
        <div key={key} className={styles['override']}>
          <TextField
            label={words.person}
            type="email"
            autoComplete="off"
            value={email}
            onChange={({ currentTarget }) => replace(at, { email: currentTarget.value.trim() })}
          />
          <TextField
            label={words.from}
            type="datetime-local"
            value={from}
            onChange={({ currentTarget }) => replace(at, { from: currentTarget.value })}
          />
          <TextField
            label={words.to}
            type="datetime-local"
            value={to}
            onChange={({ currentTarget }) => replace(at, { to: currentTarget.value })}
          />
          <Button
            look="ghost"
            isIcon
            aria-label={words.removeOverride(email)}
            onClick={() => change(overrides.toSpliced(at, 1))}
          >
            <X aria-hidden="true" />
          </Button>
        </div>
      ))}
      {error !== undefined && <p role="alert">{error}</p>}
      <span>
        <Button onClick={add}>
          <Plus aria-hidden="true" />
          {words.addOverride}
        </Button>
      </span>
    </fieldset>
  );
}
