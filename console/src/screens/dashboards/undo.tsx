// Undo: takes back the edits of a dashboard one by one, until it is saved or left.
import { Undo2 } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import type { Editor } from '../../parts/use-editor.ts';
import { useWords } from '../../words/language.tsx';
import { dashboardsWords } from './dashboards-words.ts';

const stepsMax = 50;

interface Undoable<T> extends Editor<T> {
  /** Undefined without an edit to take back. */
  readonly undo: (() => void) | undefined;
}

export function useUndo<T>(editor: Editor<T>): Undoable<T> {
  const [past, setPast] = useState<readonly T[]>([]);
  // What was saved or discarded is not taken back any more.
  const kept = editor.isChanged ? past : [];
  const last = kept.at(-1);
  return {
    ...editor,
    change: (value) => {
      setPast([...kept, editor.value].slice(-stepsMax));
      editor.change(value);
    },
    undo:
      last === undefined
        ? undefined
        : () => {
            setPast(kept.slice(0, -1));
            editor.change(last);
          },
  };
}

/** Also Ctrl Z or Cmd Z, outside of a field. */
export function UndoButton({ undo }: Pick<Undoable<unknown>, 'undo'>) {
  const words = useWords(dashboardsWords);
  const latest = useRef(undo);
  useEffect(() => {
    latest.current = undo;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isKey = event.key === 'z' && (event.ctrlKey || event.metaKey) && !event.shiftKey;
      const isField = (event.target as Element).closest('input, textarea, select') !== null;
      if (!isKey || isField || latest.current === undefined) return;
      event.preventDefault();
      latest.current();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <Button disabled={undo === undefined} aria-keyshortcuts="Control+Z Meta+Z" onClick={undo}>
      <Undo2 aria-hidden="true" />
      {words.undo}
    </Button>
  );
}
