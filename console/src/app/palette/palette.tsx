// Palette: one field that finds records, pages, actions and settings, walked with the arrow keys.
import { Check, LoaderCircle, Search } from 'lucide-react';
import { type ClipboardEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import {
  type Asked,
  exactHit,
  isQuestion,
  type PaletteGroup,
  type PaletteItem,
  useAsked,
  useFound,
  type Wanted,
  wantedOf,
} from './palette-search.ts';
import { Refusal } from '../../api/platform.ts';
import { useWorkspaceId } from '../../session/session.ts';
import { partWords } from '../../ui/part-words.ts';
import { useModal } from '../../ui/dialog.tsx';
import { useWords } from '../../words/language.tsx';
import { closePalette } from './palette-state.ts';
import { paletteWords } from './palette-words.ts';
import styles from './palette.module.css';
import { useActivityItem, useHitItem, usePaletteGroups } from './use-palette-groups.ts';

export function Palette({ typed: first }: { readonly typed: string }) {
  const words = useWords(paletteWords);
  const dialog = useModal();
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/click-events-have-key-events -- Escape is the key for it
    <dialog
      ref={dialog}
      className={styles['palette']}
      aria-label={words.title}
      onCancel={closePalette}
      onClick={(event) => {
        if (event.target === event.currentTarget) closePalette();
      }}
    >
      <Finder first={first} />
    </dialog>
  );
}

function Finder({ first }: { readonly first: string }) {
  const [typed, setTyped] = useState(first);
  const [at, setAt] = useState(0);
  const id = useId();
  const wanted = wantedOf(typed);
  const found = useFound(wanted, { workspaceId: useWorkspaceId() });
  const asked = useAsked(wanted);
  const groups = usePaletteGroups(wanted, wanted.words === '' ? undefined : found.data, asked.data);
  const items = groups.flatMap((group) => group.items);
  const current = Math.min(at, Math.max(0, items.length - 1));
  const onPaste = usePasted(wanted.words, found.data);
  const type = (text: string) => {
    setTyped(text);
    setAt(0);
  };
  return (
    <>
      <Field
        id={id}
        typed={typed}
        type={type}
        isBusy={found.isFetching || asked.isFetching}
        activeId={items.length === 0 ? undefined : `${id}${current}`}
        onPaste={onPaste}
        onKeyDown={(event) => onKey(event, { items, groups, current, setAt })}
      />
      <PaletteList id={id} groups={groups} current={current} choose={choose} />
      {isQuestion(wanted) && <Ignored asked={asked.data} wanted={wanted} />}
      {items.length === 0 && (
        <Nothing typed={typed} found={wanted.scope === 'questions' ? asked : found} />
      )}
      <Hints type={type} />
    </>
  );
}

/** The page is shown before the palette closes, which then gives the focus back to nothing. */
function choose(item: PaletteItem): void {
  closePalette();
  item.run();
}

interface FieldProps {
  readonly id: string;
  readonly typed: string;
  readonly type: (text: string) => void;
  readonly isBusy: boolean;
  readonly activeId: string | undefined;
  readonly onPaste: (event: ClipboardEvent) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

function Field({ id, typed, type, isBusy, activeId, onPaste, onKeyDown }: FieldProps) {
  const words = useWords(paletteWords);
  return (
    <div className={styles['field']}>
      {isBusy ? (
        <LoaderCircle aria-hidden="true" data-busy="true" />
      ) : (
        <Search aria-hidden="true" />
      )}
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={activeId}
        aria-label={words.title}
        placeholder={words.placeholder}
        autoComplete="off"
        spellCheck={false}
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the only field of a dialog that was asked for
        autoFocus
        value={typed}
        onChange={({ target }) => type(target.value)}
        onPaste={onPaste}
        onKeyDown={onKeyDown}
      />
      <kbd>Esc</kbd>
    </div>
  );
}

interface Walk {
  readonly items: readonly PaletteItem[];
  readonly groups: readonly PaletteGroup[];
  readonly current: number;
  readonly setAt: (at: number) => void;
}

function onKey(event: KeyboardEvent, { items, groups, current, setAt }: Walk): void {
  const last = items.length - 1;
  const item = items[current];
  const to = {
    ArrowDown: current === last ? 0 : current + 1,
    ArrowUp: current === 0 ? last : current - 1,
    PageDown: nextGroup(groups, current),
    PageUp: 0,
  }[event.key];
  if (to !== undefined) setAt(Math.max(0, to));
  else if (event.key === 'Enter' && item !== undefined) choose(item);
  else return;
  event.preventDefault();
}

/** The first item of the group after that of the current one. */
function nextGroup(groups: readonly PaletteGroup[], current: number): number {
  let start = 0;
  for (const { items } of groups) {
    if (start > current) return start;
    start += items.length;
  }
  return current;
}

/** A pasted id leads straight to its record, once the search has found it and nothing else. */
function usePasted(words: string, found: Parameters<typeof exactHit>[0] | undefined) {
  const itemOf = useHitItem();
  const activityItem = useActivityItem();
  const pasted = useRef<string>(undefined);
  useEffect(() => {
    if (found === undefined || pasted.current !== words || found.words !== words) return;
    pasted.current = undefined;
    const hit = exactHit(found);
    const item = hit === undefined ? activityItem(found) : itemOf(hit);
    if (item !== undefined) choose(item);
  });
  return (event: ClipboardEvent) => {
    pasted.current = event.clipboardData.getData('text').trim();
  };
}

interface IgnoredProps {
  readonly asked: Asked | undefined;
  readonly wanted: Wanted;
}

/** Words of a question that mean nothing here: an answer that leaves them out must say so. */
function Ignored({ asked, wanted }: IgnoredProps) {
  const words = useWords(paletteWords);
  const ignored = asked?.ignored ?? [];
  const isAnswer = wanted.scope === 'questions' || (asked?.readings.length ?? 0) > 0;
  if (ignored.length === 0 || !isAnswer) return null;
  return (
    <p className={styles['ignored']} role="status">
      {words.ignored} {ignored.map((word) => [<s key={word}>{word}</s>, ' '])}
    </p>
  );
}

interface NothingProps {
  readonly typed: string;
  readonly found: ReturnType<typeof useFound> | ReturnType<typeof useAsked>;
}

function Nothing({ typed, found: { error, isFetching, isPlaceholderData } }: NothingProps) {
  const words = useWords(paletteWords);
  const parts = useWords(partWords);
  const { scope, words: sought } = wantedOf(typed);
  const request = error instanceof Refusal ? error.requestId : undefined;
  const sign = typed.trim();
  if (sign === '#' || sign === '@' || sign === '?')
    return <p className={styles['none']}>{words.typeMore[sign]}</p>;
  if (error !== null && scope !== 'commands')
    return (
      <p className={styles['none']} role="alert">
        {words.failed}: {error.message}
        {request !== undefined && (
          <span className="faint">
            {' '}
            {parts.request} {request}
          </span>
        )}
      </p>
    );
  const isWaiting = isFetching || isPlaceholderData;
  const nothing = scope === 'questions' ? words.nothingUnderstood : words.nothing(sought);
  return (
    <p className={styles['none']} role="status">
      {isWaiting ? words.searching : nothing}
    </p>
  );
}

function Hints({ type }: { readonly type: (text: string) => void }) {
  const words = useWords(paletteWords);
  const hints = [
    ['>', words.hintCommands],
    ['#', words.hintTags],
    ['@', words.hintMembers],
    ['?', words.hintQuestions],
  ] as const;
  return (
    <div className={styles['hints']}>
      {hints.map(([sign, name]) => (
        <button key={sign} type="button" onClick={() => type(sign)}>
          <kbd>{sign}</kbd> {name}
        </button>
      ))}
    </div>
  );
}

// List of the palette: groups of items, of which one is current.

interface PaletteListProps {
  readonly id: string;
  readonly groups: readonly PaletteGroup[];
  readonly current: number;
  readonly choose: (item: PaletteItem) => void;
}

function PaletteList({ id, groups, current, choose }: PaletteListProps) {
  const words = useWords(paletteWords);
  const starts = groups.map((_, at) =>
    groups.slice(0, at).reduce((sum, { items }) => sum + items.length, 0),
  );
  return (
    <div id={id} className={styles['list']} role="listbox" aria-label={words.results}>
      {groups.map(({ name, items }, group) => (
        <div key={name} role="group" aria-label={name}>
          <div className={styles['heading']} aria-hidden="true">
            {name}
          </div>
          {items.map((item, at) => (
            <Row
              key={item.id}
              id={`${id}${(starts[group] ?? 0) + at}`}
              item={item}
              isCurrent={(starts[group] ?? 0) + at === current}
              choose={choose}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

interface RowProps {
  readonly id: string;
  readonly item: PaletteItem;
  readonly isCurrent: boolean;
  readonly choose: (item: PaletteItem) => void;
}

function Row({ id, item, isCurrent, choose }: RowProps) {
  const { icon: Icon, label, note } = item;
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isCurrent) element.current?.scrollIntoView({ block: 'nearest' });
  }, [isCurrent]);
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the keys of the field above walk the list
    <div
      ref={element}
      id={id}
      className={styles['row']}
      role="option"
      tabIndex={-1}
      aria-selected={isCurrent}
      // The press would take the focus from the field.
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => choose(item)}
    >
      <Icon aria-hidden="true" />
      <span className="cut shrinks grow">{label}</span>
      {note !== undefined && note !== '' && <span className={styles['note']}>{note}</span>}
      {item.isCurrent === true && <Check aria-hidden="true" />}
    </div>
  );
}
