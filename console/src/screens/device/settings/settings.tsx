// Settings of a device: what it is called, where it belongs, and its end. Edits are kept until saved.
import { ask, platform } from '../../../api/platform.ts';
import { Card } from '../../../parts/card.tsx';
import { UnsavedBar } from '../../../parts/unsaved-bar.tsx';
import { useEditor } from '../../../parts/use-editor.ts';
import { useWords } from '../../../words/language.tsx';
import { type Device, deviceQuery } from '../data/device-queries.ts';
import { useDeviceFrame } from '../device-frame.ts';
import { DeleteDevice } from './delete-device.tsx';
import { type DeviceDraft, draftOf, faultsOf, updateOf } from './device-draft.ts';
import { FieldInputs, GeneralInputs, TagInputs } from './setting-inputs.tsx';
import styles from './settings.module.css';
import { settingsWords } from './settings-words.ts';
import { useChoices } from './use-choices.ts';

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
