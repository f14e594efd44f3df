// Removal of a record on its page: a button, the question, and the page to show afterwards.
import { type LinkProps, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Need } from '../session/permissions.ts';
import { useWords } from '../words/language.tsx';
import { Button } from './button.tsx';
import { editingWords } from './editing-words.ts';
import { RemoveDialog, type RemoveDialogProps } from './remove-dialog.tsx';

interface RemoveRecordProps
  extends Pick<RemoveDialogProps, 'name' | 'note' | 'label' | 'send' | 'lists'> {
  /** The permission of deleting it. */
  readonly needs: Need;
  /** Drops the edits of the record. */
  readonly discard: () => void;
  /** A page that is still there. */
  readonly next: Pick<LinkProps, 'to' | 'params'>;
}

export function RemoveRecord({ needs, discard, next, ...question }: RemoveRecordProps) {
  const words = useWords(editingWords);
  const navigate = useNavigate();
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Button needs={needs} look="danger" onClick={() => setAsked(true)}>
        {question.label ?? words.remove}
      </Button>
      {isAsked && (
        <RemoveDialog
          {...question}
          removed={() => {
            discard();
            void navigate({ ...next, ignoreBlocker: true });
          }}
          close={() => setAsked(false)}
        />
      )}
    </>
  );
}
