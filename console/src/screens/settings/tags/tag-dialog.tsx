// Tag dialog: name, description and color of a new tag or of one that exists.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { ask, platform } from '../../../api/platform.ts';
import { faultAt, faultsOf } from '../../../api/field-faults.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { TextField } from '../../../parts/field.tsx';
import { Failure } from '../../../parts/states.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { useWords } from '../../../words/language.tsx';
import styles from '../settings.module.css';
import { settingsWords } from '../settings-words.ts';
import type { Tag } from './tags.tsx';

/** Those of the charts in the light theme, and a grey. */
const colors = ['#c2570c', '#3456bf', '#589d92', '#8e3a62', '#af71fa', '#12703a', '#8f887b'];

interface TagDialogProps {
  readonly workspaceId: string;
  /** None for a new one. */
  readonly tag?: Tag;
  readonly close: () => void;
}

export function TagDialog({ workspaceId, tag, close }: TagDialogProps) {
  const words = useWords(settingsWords);
  const form = useId();
  const [color, setColor] = useState(tag?.color?.toLowerCase() ?? '');
  const save = useSave(workspaceId, tag, close);
  const faults = faultsOf(save.error);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    save.mutate({
      name: String(given.get('name')).trim(),
      description: String(given.get('description')).trim() || null,
      color: color === '' ? null : color,
    });
  };
  return (
    <Dialog
      title={tag === undefined ? words.newTag : words.edit(tag.name)}
      close={close}
      footer={
        <>
          <Button onClick={close}>{words.cancel}</Button>
          <Button type="submit" form={form} look="primary" disabled={save.isPending}>
            {words.save}
          </Button>
        </>
      }
    >
      <form id={form} className={styles['form']} onSubmit={submit}>
        <TextField
          label={words.name}
          name="name"
          required
          pattern=".*\S.*"
          maxLength={200}
          autoComplete="off"
          autoFocus
          defaultValue={tag?.name ?? ''}
          error={faultAt(faults, 'name')}
        />
        <TextField
          label={words.description}
          name="description"
          autoComplete="off"
          defaultValue={tag?.description ?? ''}
        />
        <ColorChoice color={color} choose={setColor} />
        {save.error !== null && faults.rest !== undefined && <Failure error={save.error} />}
      </form>
    </Dialog>
  );
}

interface ColorChoiceProps {
  readonly color: string;
  readonly choose: (color: string) => void;
}

/** A color that another client gave is offered too. */
function ColorChoice({ color, choose }: ColorChoiceProps) {
  const words = useWords(settingsWords);
  const others = color === '' || colors.includes(color) ? [] : [color];
  return (
    <fieldset className={styles['group']}>
      <legend>{words.color}</legend>
      <div className={styles['colors']}>
        {['', ...colors, ...others].map((one) => (
          <label key={one} className={styles['color']}>
            <input
              type="radio"
              name="color"
              aria-label={one === '' ? words.noColor : one}
              checked={one === color}
              onChange={() => choose(one)}
            />
            <span className={styles['none']} style={one === '' ? {} : { background: one }}>
              {one === '' && '–'}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface TagFields {
  readonly name: string;
  readonly description: string | null;
  readonly color: string | null;
}

function useSave(workspaceId: string, tag: Tag | undefined, close: () => void) {
  const words = useWords(settingsWords);
  const client = useQueryClient();
  return useMutation({
    mutationFn: (fields: TagFields) => {
      if (tag === undefined)
        return ask(platform.POST('/v3/tags', { body: { workspaceId, ...fields } }));
      const { id, version } = tag;
      const body = { id, version, ...fields };
      return ask(platform.PUT('/v3/tags/{id}', { params: { path: { id } }, body }));
    },
    onSuccess: async ({ name }) => {
      toast(words.savedNamed(name));
      close();
      await client.invalidateQueries({ queryKey: ['tags'] });
    },
  });
}
