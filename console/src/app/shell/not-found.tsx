// Not found: an address of the console without a screen.
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
