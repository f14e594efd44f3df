// No workspace: shown to a member of the organization who is in none of its workspaces.
import { Empty } from '../../ui/states.tsx';
import { useWords } from '../../words/language.tsx';
import { shellWords } from './shell-words.ts';

export function NoWorkspace() {
  const words = useWords(shellWords);
  return (
    <main>
      <Empty title={words.noWorkspace} note={words.noWorkspaceNote} />
    </main>
  );
}
