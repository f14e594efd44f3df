// Settings of a device: what it is called, where it belongs, and its end. Edits are kept until saved.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { customFieldsOf, placesOf, tagsOf } from '../../api/workspace-records.ts';
import { ActionFailure } from '../../ui/action-failure.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { CheckField, SelectField, TextArea, TextField, toggled } from '../../ui/field.tsx';
import { Answered, Bone } from '../../ui/states.tsx';
import { toast } from '../../ui/toasts.tsx';
import { UnsavedBar } from '../../ui/unsaved-bar.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useEditor } from '../../ui/use-editor.ts';
import { useWords } from '../../words/language.tsx';
import { zoneNames } from '../../words/zone-times.ts';
import { type Device, deviceQuery } from './data/device-queries.ts';
import { deviceZone, useDeviceFrame } from './device-frame.ts';
import { settingsWords } from './device-words.ts';
import styles from './device-settings.module.css';

export function Settings() {
  const words = useWords(settingsWords);
  const { device } = useDeviceFrame();
  const choices = useChoices(device);
  const editor = useDeviceEditor(device, choices.fields);
  const faults = faultsOf(editor.value, choices.fields);
  const change = (part: Partial<DeviceDraft>) => editor.change({ ...editor.value, ...part });
  const parts = { draft: editor.value, change, faults, choices };
  return (
    <>
      <form
        className={styles['form']}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (faults.length === 0 && editor.isChanged) editor.save();
        }}
      >
        <Card title={words.general} isPadded>
          <GeneralInputs {...parts} />
        </Card>
        <Card title={words.tags} isPadded>
          <TagInputs {...parts} />
        </Card>
        <Card title={words.fields} isPadded>
          <FieldInputs {...parts} />
        </Card>
        <UnsavedBar needs="asset: update" editor={editor} isBlocked={faults.length > 0} isSticky />
      </form>
      <DeleteDevice discard={editor.discard} />
    </>
  );
}

function useDeviceEditor(device: Device, fields: Parameters<typeof updateOf>[2]) {
  const { id, version } = device;
  return useEditor<DeviceDraft, Device>({
    key: `device ${id}`,
    saved: draftOf(device),
    version,
    record: deviceQuery(id).queryKey,
    list: ['devices'],
    send: (draft, from) => {
      const body = { ...updateOf(device, draft, fields), ...from };
      return ask(platform.PUT('/v3/devices/{id}', { params: { path: { id } }, body }));
    },
  });
}

// Deletion of a device: asked for by its name, because everything it sent is deleted with it.

function DeleteDevice({ discard }: { readonly discard: () => void }) {
  const words = useWords(settingsWords);
  const [isAsked, setAsked] = useState(false);
  return (
    <Card title={words.remove} isPadded>
      <div className={`row wrap justify-between gap-12 ${styles['remove']}`}>
        <p className="mute">{words.removeNote}</p>
        <Button needs="asset: delete" look="danger" onClick={() => setAsked(true)}>
          <Trash2 aria-hidden="true" />
          {words.remove}
        </Button>
      </div>
      {isAsked && <Confirmation discard={discard} close={() => setAsked(false)} />}
    </Card>
  );
}

interface ConfirmationProps {
  readonly discard: () => void;
  readonly close: () => void;
}

function Confirmation({ discard, close }: ConfirmationProps) {
  const words = useWords(settingsWords);
  const { device } = useDeviceFrame();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [typed, setTyped] = useState('');
  const deletion = useAction({
    mutationFn: () =>
      ask(platform.DELETE('/v3/devices/{id}', { params: { path: { id: device.id } } })),
    onSuccess: async () => {
      discard();
      toast(words.removed(device.name));
      const params = { workspaceId: device.workspaceId };
      await navigate({ to: '/w/$workspaceId/devices', params, ignoreBlocker: true });
      queries.removeQueries({ queryKey: ['device', device.id] });
      await queries.invalidateQueries({ queryKey: ['devices'] });
    },
  });
  return (
    <Dialog
      title={words.removeTitle(device.name)}
      close={close}
      footer={
        <>
          <Button onClick={close}>{words.cancel}</Button>
          <Button
            look="danger"
            disabled={typed.trim() !== device.name.trim() || deletion.isPending}
            onClick={() => deletion.mutate()}
          >
            {words.delete}
          </Button>
        </>
      }
    >
      <p>{words.removeNote}</p>
      <TextField
        label={words.typeName(device.name)}
        autoComplete="off"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      <ActionFailure error={deletion.error} />
    </Dialog>
  );
}

// Inputs of a device's settings: what it is called, its tags, and the custom fields of its workspace.

interface InputsProps {
  readonly draft: DeviceDraft;
  readonly change: (part: Partial<DeviceDraft>) => void;
  readonly faults: readonly DraftFault[];
  readonly choices: Choices;
}

function GeneralInputs({ draft, change, faults, choices }: InputsProps) {
  const words = useWords(settingsWords);
  return (
    <div className={styles['inputs']}>
      <TextField
        label={words.name}
        required
        error={faults.includes('name') ? words.required : undefined}
        value={draft.name}
        onChange={({ target }) => change({ name: target.value })}
      />
      <TextField
        label={words.timeout}
        hint={words.timeoutHint}
        error={faults.includes('timeout') ? words.timeoutBad : undefined}
        inputMode="decimal"
        value={draft.timeoutMinutes}
        onChange={({ target }) => change({ timeoutMinutes: target.value })}
      />
      <SelectField
        label={words.flow}
        hint={words.flowHint}
        value={draft.dataFlowId}
        onChange={({ target }) => change({ dataFlowId: target.value })}
      >
        {choices.flows.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      {choices.places.length > 0 && (
        <SelectField
          label={words.place}
          value={draft.placeId}
          onChange={({ target }) => change({ placeId: target.value })}
        >
          <option value="">{words.noPlace}</option>
          {choices.places.map(({ id, path }) => (
            <option key={id} value={id}>
              {path}
            </option>
          ))}
        </SelectField>
      )}
      <SelectField
        label={words.zone}
        hint={words.zoneHint}
        value={draft.zone}
        onChange={({ target }) => change({ zone: target.value })}
      >
        <option value="">{words.zoneOfWorkspace}</option>
        {zoneNames.map((zone) => (
          <option key={zone} value={zone}>
            {zone}
          </option>
        ))}
      </SelectField>
      <div className={styles['whole']}>
        <TextArea
          label={words.description}
          value={draft.description}
          onChange={({ target }) => change({ description: target.value })}
        />
      </div>
    </div>
  );
}

function TagInputs({ draft, change, choices }: InputsProps) {
  const words = useWords(settingsWords);
  return (
    <Answered answer={choices.tagsAnswer} skeleton={<Bone />}>
      {({ content }) =>
        content.length === 0 ? (
          <p className="mute">{words.noTags}</p>
        ) : (
          <fieldset className="flow wrap gap-y-8 gap-x-16">
            <legend className="sr">{words.tags}</legend>
            {content.map(({ id, name }) => (
              <CheckField
                key={id}
                label={name}
                isOn={draft.tagIds.includes(id)}
                change={(isOn) => change({ tagIds: toggled(draft.tagIds, id, isOn).toSorted() })}
              />
            ))}
          </fieldset>
        )
      }
    </Answered>
  );
}

function FieldInputs({ draft, change, faults, choices }: InputsProps) {
  const words = useWords(settingsWords);
  const isWrong = (fieldId: string) =>
    faults.some((fault) => typeof fault === 'object' && fault.fieldId === fieldId);
  return (
    <Answered answer={choices.fieldsAnswer} skeleton={<Bone />}>
      {({ content }) =>
        content.length === 0 ? (
          <p className="mute">{words.noFields}</p>
        ) : (
          <div className={styles['inputs']}>
            {content.map(({ id, name, type, description, required }) => (
              <TextField
                key={id}
                label={required ? `${name} *` : name}
                hint={description ?? (type === 'GPS_COORDINATES' ? words.positionHint : type)}
                error={isWrong(id) ? words.badValue : undefined}
                required={required}
                value={draft.fields[id] ?? ''}
                onChange={({ target }) =>
                  change({ fields: withField(draft.fields, id, target.value) })
                }
              />
            ))}
          </div>
        )
      }
    </Answered>
  );
}

/** A field that is emptied is as one that never had a value. */
function withField(fields: DeviceDraft['fields'], id: string, content: string) {
  const { [id]: _, ...others } = fields;
  const all = content === '' ? others : { ...others, [id]: content };
  return Object.fromEntries(Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

// Hook on what the settings of a device can be chosen from: flows, tags and custom fields.

/** More than these are chosen by search, on the screens of flows and tags. */
const choicesMax = 1_000;

function useChoices({ workspaceId, connectivity, dataFlow, place }: Device) {
  const params = { query: { workspaceId, size: choicesMax } };
  const flows = useQuery({
    queryKey: ['flows', workspaceId],
    queryFn: ({ signal }) => ask(platform.GET('/v3/data-flows', { signal, params })),
  });
  const tags = useQuery(tagsOf(workspaceId));
  const fields = useQuery(customFieldsOf(workspaceId));
  const places = useQuery(placesOf(workspaceId)).data ?? [];
  // Of a workspace with very many places it may not be among them.
  const isPlaceKnown = place === null || places.some(({ id }) => id === place.id);
  const ownPlace = { id: place?.id ?? '', path: place?.path.join(' / ') ?? '' };
  const fitting = (flows.data?.content ?? []).filter(
    ({ deviceConnector }) => deviceConnector.connectivity === connectivity,
  );
  const isOwnKnown = fitting.some(({ id }) => id === dataFlow.id);
  const own = { id: dataFlow.id, name: dataFlow.name };
  return {
    flows: [...(isOwnKnown ? [] : [own]), ...fitting.map(({ id, name }) => ({ id, name }))],
    places: [...(isPlaceKnown ? [] : [ownPlace]), ...places],
    tags: tags.data?.content ?? [],
    fields: fields.data?.content ?? [],
    tagsAnswer: tags,
    fieldsAnswer: fields,
  };
}

type Choices = ReturnType<typeof useChoices>;

// Device draft: the settings as the form has them, their faults, and the update that they mean.

type CustomField = components['schemas']['CustomField'];
type DeviceUpdate = components['schemas']['DeviceUpdate'];

interface DeviceDraft {
  readonly name: string;
  readonly description: string;
  readonly dataFlowId: string;
  /** Empty for a device at no place. */
  readonly placeId: string;
  readonly timeoutMinutes: string;
  /** IANA name, or empty for that of the workspace. */
  readonly zone: string;
  readonly tagIds: readonly string[];
  /** Values of the custom fields by field id; a position has two, joined by a comma. */
  readonly fields: Readonly<Record<string, string>>;
}

const minuteSeconds = 60;

function draftOf(device: Device): DeviceDraft {
  return {
    name: device.name,
    description: device.description ?? '',
    dataFlowId: device.dataFlowId,
    placeId: device.placeId ?? '',
    timeoutMinutes: String(device.onlineTimeout / minuteSeconds),
    zone: deviceZone(device) ?? '',
    tagIds: device.tags.map(({ id }) => id).toSorted(),
    fields: Object.fromEntries(
      device.customFields
        .map((field) => [field.fieldMetaId, fieldText(field)] as const)
        .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ),
  };
}

type DraftFault = 'name' | 'timeout' | { readonly fieldId: string };

/** What must change before the draft can be saved. */
function faultsOf(draft: DeviceDraft, fields: readonly CustomField[]): readonly DraftFault[] {
  const faults: DraftFault[] = [];
  if (draft.name.trim() === '') faults.push('name');
  if (!(Number(draft.timeoutMinutes) > 0)) faults.push('timeout');
  for (const field of fields) {
    const content = (draft.fields[field.id] ?? '').trim();
    const isMissing = field.required && content === '';
    if (isMissing || (content !== '' && valueOf(field, content) === undefined))
      faults.push({ fieldId: field.id });
  }
  return faults;
}

/** Only what differs from the device is sent, so that nothing else is overwritten. */
function updateOf(
  device: Device,
  draft: DeviceDraft,
  fields: readonly CustomField[],
): DeviceUpdate {
  const before = draftOf(device);
  const changedFields = fields.filter(
    ({ id }) => (draft.fields[id] ?? '') !== (before.fields[id] ?? ''),
  );
  const { timeZone: _, ...properties } = device.properties as Readonly<Record<string, unknown>>;
  const zoned = draft.zone === '' ? properties : { ...properties, timeZone: draft.zone };
  return {
    id: device.id,
    name: draft.name.trim(),
    description: draft.description.trim() === '' ? null : draft.description,
    onlineTimeout: Math.round(Number(draft.timeoutMinutes) * minuteSeconds),
    dataFlowId: draft.dataFlowId,
    ...(draft.placeId === before.placeId ? {} : { placeId: draft.placeId || null }),
    ...(draft.zone === before.zone ? {} : { properties: zoned }),
    tags: draft.tagIds.map((id) => ({ id })),
    ...(changedFields.length === 0
      ? {}
      : { customFields: changedFields.map((field) => sentField(field, draft)) }),
  };
}

function sentField(field: CustomField, draft: DeviceDraft) {
  const content = (draft.fields[field.id] ?? '').trim();
  const value = content === '' ? null : valueOf(field, content);
  return { fieldMetaId: field.id, [field.type]: value };
}

/** The value that the platform takes; undefined for content that is not one. */
function valueOf({ type }: CustomField, content: string): unknown {
  if (type === 'STRING') return content;
  if (type === 'NUMBER') return numberOf(content);
  if (type === 'DATE') {
    const at = Date.parse(content);
    return Number.isNaN(at) ? undefined : new Date(at).toISOString();
  }
  if (type === 'GPS_COORDINATES') {
    const [latitude, longitude] = content.split(',').map(numberOf);
    if (latitude === undefined || longitude === undefined) return undefined;
    return { latitude, longitude };
  }
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

function numberOf(content: string): number | undefined {
  const number = Number(content);
  return content.trim() === '' || !Number.isFinite(number) ? undefined : number;
}

function fieldText({ meta: { type }, ...values }: Device['customFields'][number]): string {
  const value: unknown = values[type];
  if (value === undefined || value === null) return '';
  if (type === 'GPS_COORDINATES') {
    const { latitude, longitude } = value as Readonly<Record<string, unknown>>;
    return `${String(latitude)}, ${String(longitude)}`;
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}
