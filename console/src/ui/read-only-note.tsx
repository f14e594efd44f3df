// Read-only note: says before an edit that it would be refused, and what it needs.
import { useMay } from '../session/permissions.ts';
import { useWords } from '../words/language.tsx';
import { editingWords } from './editing-words.ts';
import styles from './read-only-note.module.css';

interface ReadOnlyNoteProps {
  readonly workspaceId: string;
  readonly scope: string;
  readonly verb: Parameters<typeof useMay>[2];
}

export function ReadOnlyNote({ workspaceId, scope, verb }: ReadOnlyNoteProps) {
  const words = useWords(editingWords);
  if (useMay(workspaceId, scope, verb)) return null;
  return <p className={styles['notice']}>{words.readOnly(`${scope}: ${verb}`)}</p>;
}
