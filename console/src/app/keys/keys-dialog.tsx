// Keys dialog: all keys of the table, and the places that `g` leads to.
import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import { Dialog } from '../../ui/dialog.tsx';
import { placeGroups } from '../shell/navigation.ts';
import { shellWords } from '../shell/shell-words.ts';
import { useWords } from '../../words/language.tsx';
import { controlName, goKey, type KeyGroup, keyGroups, type KeyRow } from './use-keys.ts';
import { keyWords } from '../../ui/key-words.ts';
import styles from './keys.module.css';
import { hasSingleKeys } from '../../ui/keys.ts';

export function KeysDialog({ close }: { readonly close: () => void }) {
  const words = useWords(keyWords);
  return (
    <Dialog title={words.title} close={close} isWide>
      {!hasSingleKeys() && (
        <p className={styles['off']}>
          {words.off}{' '}
          <Link to="/me" onClick={close}>
            {words.change}
          </Link>
        </p>
      )}
      <div className={styles['groups']}>
        {keyGroups.map((group) => (
          <Group key={group.name} group={group} />
        ))}
        <Places />
      </div>
    </Dialog>
  );
}

function Group({ group: { name, rows } }: { readonly group: KeyGroup }) {
  const words = useWords(keyWords);
  return (
    <section className={styles['group']} aria-label={words.groups[name]}>
      <h3>{words.groups[name]}</h3>
      <dl>
        {rows.map((row) => (
          <Fragment key={row.name}>
            <dt>{words.keys[row.name]}</dt>
            <dd>
              <Keys row={row} />
            </dd>
          </Fragment>
        ))}
      </dl>
    </section>
  );
}

const shown: Readonly<Record<string, string>> = { Escape: 'Esc' };

function Keys({ row: { keys, isWithControl = false } }: { readonly row: KeyRow }) {
  return keys.map((key) => (
    <Fragment key={key}>
      {isWithControl && <kbd>{controlName}</kbd>}
      <kbd>{isWithControl && key.length === 1 ? key.toUpperCase() : (shown[key] ?? key)}</kbd>
    </Fragment>
  ));
}

function Places() {
  const words = useWords(keyWords);
  const names = useWords(shellWords);
  return (
    <section className={styles['group']} aria-label={words.go}>
      <h3>{words.go}</h3>
      <dl>
        {placeGroups
          .flatMap(({ places }) => places)
          .map(({ word, key }) => (
            <Fragment key={key}>
              <dt>{names[word]}</dt>
              <dd>
                <kbd>{goKey}</kbd>
                <span className="sr">{words.next}</span>
                <kbd>{key}</kbd>
              </dd>
            </Fragment>
          ))}
      </dl>
    </section>
  );
}
