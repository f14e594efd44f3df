// Made list: the requests that made the first device, as curl.
import { curlOf } from '../../api/curl.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { CodeBlock } from '../../parts/states.tsx';
import { useWords } from '../../words/language.tsx';
import type { Made } from './setup-requests.ts';
import styles from './welcome.module.css';
import { welcomeWords } from './welcome-words.ts';

export function MadeList({ made }: { readonly made: readonly Made[] }) {
  const words = useWords(welcomeWords);
  if (made.length === 0) return null;
  const commands = made
    .filter(({ request }) => request !== undefined)
    .map(({ request }) => curlOf(request ?? { path: '' }, location.origin));
  return (
    <details className={styles['made']}>
      <summary>{words.made}</summary>
      <p className="mute">{words.madeNote}</p>
      <ol>
        {made.map(({ what, id, request }) => (
          <li key={id}>
            <b>{words.madeWhat[what]}</b> <span className="mono faint">{id}</span>
            {request === undefined ? (
              <p className="mute">{words.existed}</p>
            ) : (
              <CodeBlock code={curlOf(request, location.origin)} />
            )}
          </li>
        ))}
      </ol>
      <CopyButton content={commands.join('\n')} />
    </details>
  );
}
