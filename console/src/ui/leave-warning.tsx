// Leave warning: asks before a page with edits that are not saved is left.
import { useBlocker } from '@tanstack/react-router';
import { useWords } from '../words/language.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { editingWords } from './editing-words.ts';

interface LeaveWarningProps {
  readonly isChanged: boolean;
  /** Pages below this path share the edits, so that the way between them is free. */
  readonly within?: string;
}

/** Edits stay in the browser either way; staying is the main answer because it is what undoes a slip. */
export function LeaveWarning({ isChanged, within }: LeaveWarningProps) {
  const words = useWords(editingWords);
  const blocker = useBlocker({
    withResolver: true,
    enableBeforeUnload: isChanged,
    shouldBlockFn: ({ current, next }) => {
      const isFree = within !== undefined && `${next.pathname}/`.startsWith(`${within}/`);
      return isChanged && !isFree && current.pathname !== next.pathname;
    },
  });
  if (blocker.status !== 'blocked') return null;
  return (
    <Dialog
      title={words.leaveTitle}
      close={blocker.reset}
      footer={
        <>
          <Button onClick={blocker.proceed}>{words.leave}</Button>
          <Button look="primary" onClick={blocker.reset}>
            {words.stay}
          </Button>
        </>
      }
    >
      <p>{words.leaveNote}</p>
    </Dialog>
  );
}
