// E-mail in place: typed addresses become an output that sends mail, without leaving a rule.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { aboutQuery } from '../../api/about.ts';
import { faultAt, faultsOf } from '../../api/field-faults.ts';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { useWords } from '../../words/language.tsx';
import { formWords } from './form-words.ts';
import { bodyOf, newDraft } from './output-draft.ts';
import styles from './outputs.module.css';
import { useAction } from '../../ui/use-action.ts';

interface MadeOutput {
  readonly id: string;
  readonly name: string;
  readonly type: 'MAIL';
}

interface MailInPlaceProps {
  readonly workspaceId: string;
  /** Subject and message, as templates. */
  readonly templates: { readonly subjectTemplate: string; readonly messageTemplate: string };
  readonly done: (output: MadeOutput) => void;
}

/** Mail that a rule sends. */
export const ruleMail = {
  subjectTemplate: '{{rule.name}}: {{device.name}}',
  messageTemplate: '{{device.name}}: {{data}}\n{{timestamp}}',
} as const;

export function MailInPlace({ workspaceId, templates, done }: MailInPlaceProps) {
  const words = useWords(formWords);
  const known = useQueryClient();
  const sendsMail = useQuery(aboutQuery).data?.features.mail;
  const [typed, setTyped] = useState('');
  const recipients = typed.split(/[\s,;]+/).filter((one) => one !== '');
  const making = useAction({
    mutationFn() {
      const name = words.mailTo(recipients.join(', ').slice(0, nameCharactersMax));
      const draft = newDraft('MAIL', name, 'RULE_ACTION');
      const body = bodyOf({ ...draft, properties: { ...templates, recipients } }, workspaceId);
      return ask(platform.POST('/v3/output-connectors', { body }));
    },
    onSuccess({ id, name }) {
      void known.invalidateQueries({ queryKey: ['outputs'] });
      void known.invalidateQueries({ queryKey: ['message outputs', workspaceId] });
      setTyped('');
      done({ id, name, type: 'MAIL' });
    },
  });
  const faults = faultsOf(making.error);
  const error = faultAt(faults, 'mailProperties.recipients') ?? making.error?.message;
  const add = () => {
    if (recipients.length > 0 && !making.isPending) making.mutate();
  };
  return (
    <span className={styles['mail']}>
      <TextField
        label={words.mailAddresses}
        hint={sendsMail === false ? words.noMail : undefined}
        error={error}
        value={typed}
        inputMode="email"
        disabled={sendsMail === false}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          add();
        }}
      />
      <Button disabled={recipients.length === 0 || making.isPending} onClick={add}>
        {words.mailUse}
      </Button>
    </span>
  );
}

const nameCharactersMax = 80;
