// Settings of a device: what it is called, where it belongs, and its end. Edits are kept until saved.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { customFieldsOf } from '../../../api/custom-fields.ts';
import { ask, platform } from '../../../api/platform.ts';
import { tagsOf } from '../../../api/tags.ts';
import { ActionFailure } from '../../../ui/action-failure.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { CheckField, toggled } from '../../../ui/check-field.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../../ui/field.tsx';
import { Answered, Bone } from '../../../ui/states.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { UnsavedBar } from '../../../ui/unsaved-bar.tsx';
import { useAction } from '../../../ui/use-action.ts';
import { useEditor } from '../../../ui/use-editor.ts';
import { useWords } from '../../../words/language.tsx';
import { zoneNames } from '../../../words/zone-times.ts';
import { type Device, deviceQuery } from '../data/device-queries.ts';
import { useDeviceFrame } from '../device-frame.ts';
import { type DeviceDraft, type DraftFault, draftOf, faultsOf, updateOf } from './device-draft.ts';
import styles from './settings.module.css';
import { settingsWords } from './settings-words.ts';

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
      <div className={styles['remove']}>
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
          <fieldset className={styles['tags']}>
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

function useChoices({ workspaceId, connectivity, dataFlow }: Device) {
  const params = { query: { workspaceId, size: choicesMax } };
  const flows = useQuery({
    queryKey: ['flows', workspaceId],
    queryFn: ({ signal }) => ask(platform.GET('/v3/data-flows', { signal, params })),
  });
  const tags = useQuery(tagsOf(workspaceId));
  const fields = useQuery(customFieldsOf(workspaceId));
  const fitting = (flows.data?.content ?? []).filter(
    ({ deviceConnector }) => deviceConnector.connectivity === connectivity,
  );
  const isOwnKnown = fitting.some(({ id }) => id === dataFlow.id);
  const own = { id: dataFlow.id, name: dataFlow.name };
  return {
    flows: [...(isOwnKnown ? [] : [own]), ...fitting.map(({ id, name }) => ({ id, name }))],
    tags: tags.data?.content ?? [],
    fields: fields.data?.content ?? [],
    tagsAnswer: tags,
    fieldsAnswer: fields,
  };
}

type Choices = ReturnType<typeof useChoices>;
