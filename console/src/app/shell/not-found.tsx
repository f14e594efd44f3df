// Pages without a screen: an unknown address, and a member without a workspace.
import { ButtonLink } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { useWords } from '../../words/language.tsx';
import { shellWords } from './shell-words.ts';

export function NotFound() {
  const words = useWords(shellWords);
  return (
    <Page title={words.notFound} name={words.notFound} path={[words.notFound]}>
      <Empty
        title={words.notFound}
        note={words.notFoundNote}
        actions={
          <ButtonLink to="/" look="primary">
            {words.goHome}
          </ButtonLink>
        }
      />
    </Page>
  );
}

// No workspace: shown to a member of the organization who is in none of its workspaces.

export function NoWorkspace() {
  const words = useWords(shellWords);
  return (
    <main>
      <Empty title={words.noWorkspace} note={words.noWorkspaceNote} />
    </main>
  );
}
