// Dialogs of alarms: the reason for clearing, and a comment.
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextArea, TextField } from '../../parts/field.tsx';
import { useWords } from '../../words/language.tsx';
import { alarmsWords } from './alarms-words.ts';
import styles from './alarms.module.css';

interface ActionDialogProps {
  /** Name of the alarm, or how many they are. */
  readonly what: string;
  readonly close: () => void;
  readonly act: (content: string) => void;
}

export function ClearDialog({ what, close, act }: ActionDialogProps) {
  const words = useWords(alarmsWords);
  const [reason, setReason] = useState('');
  return (
    <Dialog title={words.clearTitle(what)} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          close();
          act(reason.trim());
        }}
      >
        <p className="mute">{words.clearNote}</p>
        <TextField
          label={words.reason}
          hint={words.reasonHint}
          maxLength={500}
          autoComplete="off"
          autoFocus
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <Ends close={close} label={words.clear} />
      </form>
    </Dialog>
  );
}

export function CommentDialog({ what, close, act }: ActionDialogProps) {
  const words = useWords(alarmsWords);
  const [content, setContent] = useState('');
  return (
    <Dialog title={words.commentTitle(what)} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (content.trim() === '') return;
          close();
          act(content.trim());
        }}
      >
        <TextArea
          label={words.commentLabel}
          maxLength={2_000}
          rows={4}
          autoFocus
          value={content}
          onChange={(event) => setContent(event.currentTarget.value)}
        />
        <Ends close={close} label={words.addComment} isDisabled={content.trim() === ''} />
      </form>
    </Dialog>
  );
}

interface EndsProps {
  readonly close: () => void;
  readonly label: string;
  readonly isDisabled?: boolean;
}

function Ends({ close, label, isDisabled = false }: EndsProps) {
  const words = useWords(alarmsWords);
  return (
    <div className={styles['ends']}>
      <Button onClick={close}>{words.cancel}</Button>
      <Button look="primary" type="submit" disabled={isDisabled}>
        {label}
      </Button>
    </div>
  );
}
