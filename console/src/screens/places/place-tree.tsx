// Place tree: the places of a workspace level by level, with devices and open alarms of each, or those that a search finds.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import { type DragEvent, type KeyboardEvent, useState } from 'react';
import { useMayDo } from '../../session/permissions.ts';
import { withMoment } from '../../ui/late-time-machine.ts';
import { Severity } from '../../ui/severity.tsx';
import { severityWords } from '../../ui/severity-words.ts';
import { Answered, Bone } from '../../ui/states.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import {
  changePlace,
  foundPlaces,
  levelOf,
  type Place,
  placeOf,
  placesKey,
} from './place-requests.ts';
import { placesWords } from './places-words.ts';
import styles from './places.module.css';

interface TreeProps {
  readonly workspaceId: string;
  readonly chosenId: string | undefined;
  /** The moment that is shown; now without it. */
  readonly at: string | undefined;
}

/** Open places survive a visit of another screen. */
const openPlaces = new Map<string, ReadonlySet<string>>();

function useOpen(workspaceId: string, path: readonly string[]) {
  const [open, setOpen] = useState<ReadonlySet<string>>(
    () => new Set([...(openPlaces.get(workspaceId) ?? []), ...path]),
  );
  const [shownPath, setShownPath] = useState(path.join());
  const show = (next: ReadonlySet<string>) => {
    openPlaces.set(workspaceId, next);
    setOpen(next);
  };
  // The way to the chosen place is open once, also when a link leads there.
  if (path.join() !== shownPath) {
    setShownPath(path.join());
    show(new Set([...open, ...path]));
  }
  const toggle = (id: string, isOpen: boolean) => {
    const next = new Set(open);
    if (isOpen) next.add(id);
    else next.delete(id);
    show(next);
  };
  return { open, toggle };
}

export function PlaceTree({ workspaceId, chosenId, at }: TreeProps) {
  const words = useWords(placesWords);
  const chosen = useQuery({
    ...placeOf(workspaceId, chosenId ?? ''),
    enabled: chosenId !== undefined,
  }).data;
  const path = chosen?.path.slice(0, -1).map(({ id }) => id) ?? [];
  const { open, toggle } = useOpen(workspaceId, path);
  const [focused, setFocused] = useState<string>();
  const drop = useMove(workspaceId, at === undefined);
  const node = { workspaceId, chosenId, at, open, toggle, focused, setFocused, drop };
  return (
    <ul
      className={styles['tree']}
      role="tree"
      aria-label={words.tree}
      onKeyDown={(event) => walk(event, toggle)}
    >
      <Level parentId={null} depth={1} node={node} />
    </ul>
  );
}

interface NodeProps extends TreeProps {
  readonly open: ReadonlySet<string>;
  readonly toggle: (id: string, isOpen: boolean) => void;
  /** The one that Tab reaches. */
  readonly focused: string | undefined;
  readonly setFocused: (id: string) => void;
  readonly drop: Drop;
}

interface LevelProps {
  readonly parentId: string | null;
  readonly depth: number;
  readonly node: NodeProps;
}

function Level({ parentId, depth, node }: LevelProps) {
  const words = useWords(placesWords);
  const { count } = useFormats();
  const level = useQuery(levelOf(node.workspaceId, parentId));
  return (
    <Answered answer={level} skeleton={<Bones />}>
      {({ content, totalElements }) => (
        <>
          {content.map((place, at) => (
            <TreeNode
              key={place.id}
              place={place}
              depth={depth}
              node={node}
              isFirst={depth === 1 && at === 0}
            />
          ))}
          {totalElements > content.length && (
            <li role="none" className={`faint text-small ${styles['note']}`}>
              {words.more(count(totalElements - content.length))}
            </li>
          )}
        </>
      )}
    </Answered>
  );
}

function Bones() {
  return (
    <li role="none" className={styles['note']}>
      <Bone width="12em" />
    </li>
  );
}

interface TreeNodeProps {
  readonly place: Place;
  readonly depth: number;
  readonly node: NodeProps;
  readonly isFirst: boolean;
}

function TreeNode({ place, depth, node, isFirst }: TreeNodeProps) {
  const { id, name, health } = place;
  const { workspaceId, chosenId, at, open, toggle, focused, setFocused, drop } = node;
  const navigate = useNavigate();
  const [isOver, setOver] = useState(false);
  const hasMore = (health?.places ?? 0) > 0;
  const isOpen = hasMore && open.has(id);
  const isReached =
    (focused ?? chosenId) === id || (focused === undefined && chosenId === undefined && isFirst);
  const show = () =>
    void navigate({
      to: '/w/$workspaceId/places/$placeId',
      params: { workspaceId, placeId: id },
      search: withMoment({}, at),
    });
  return (
    <li role="none">
      {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the keys of the tree do the same */}
      <div
        role="treeitem"
        aria-level={depth}
        aria-selected={id === chosenId}
        {...(hasMore ? { 'aria-expanded': isOpen } : {})}
        tabIndex={isReached ? 0 : -1}
        data-id={id}
        data-over={isOver}
        className={styles['node']}
        style={{ paddingLeft: `${(depth - 1) * 16 + 4}px` }}
        draggable={drop.isAllowed}
        onFocus={() => setFocused(id)}
        onClick={show}
        onDragStart={(event) => drop.start(event, place)}
        onDragOver={(event) => {
          if (!drop.isDragging()) return;
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          drop.end(place);
        }}
      >
        <span
          className={styles['twist']}
          data-open={isOpen}
          aria-hidden="true"
          onClick={(event) => {
            if (!hasMore) return;
            event.stopPropagation();
            toggle(id, !isOpen);
          }}
        >
          {hasMore && <ChevronRight />}
        </span>
        <span className="cut grow">{name}</span>
        {at === undefined && <Alarms place={place} />}
        <DeviceCount place={place} />
      </div>
      {isOpen && (
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- levels of a tree are groups
        <ul role="group" className={styles['level']}>
          <Level parentId={id} depth={depth + 1} node={node} />
        </ul>
      )}
    </li>
  );
}

function DeviceCount({ place: { devicesBelow } }: { readonly place: Place }) {
  const words = useWords(placesWords);
  const { count } = useFormats();
  return (
    <span className="faint num">
      <span aria-hidden="true">{count(devicesBelow)}</span>
      <span className="sr">{words.devices(count(devicesBelow), devicesBelow)}</span>
    </span>
  );
}

function Alarms({ place: { health } }: { readonly place: Place }) {
  const words = useWords(placesWords);
  const severities = useWords(severityWords).severities;
  const { count } = useFormats();
  const worst = health?.worstSeverity ?? null;
  if (!health || worst === null) return null;
  const said = words.treeAlarms(count(health.openAlarms), health.openAlarms, severities[worst]);
  return (
    <span title={said} className="inline rigid">
      <Severity of={worst} isQuiet />
    </span>
  );
}

/** Arrow keys as trees have them; the focus is where it was after a level opened. */
function walk(event: KeyboardEvent<HTMLElement>, toggle: NodeProps['toggle']): void {
  const item = event.target instanceof Element ? event.target.closest('[role="treeitem"]') : null;
  if (!(item instanceof HTMLElement)) return;
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role="treeitem"]')];
  const at = items.indexOf(item);
  const expanded = item.getAttribute('aria-expanded');
  const level = Number(item.getAttribute('aria-level'));
  const id = item.dataset['id'] ?? '';
  const above = () =>
    items.slice(0, at).findLast((one) => Number(one.getAttribute('aria-level')) < level);
  const keys: Readonly<Record<string, () => unknown>> = {
    ArrowDown: () => items[at + 1]?.focus(),
    ArrowUp: () => items[at - 1]?.focus(),
    Home: () => items[0]?.focus(),
    End: () => items.at(-1)?.focus(),
    ArrowRight: () =>
      expanded === 'false' ? toggle(id, true) : expanded && items[at + 1]?.focus(),
    ArrowLeft: () => (expanded === 'true' ? toggle(id, false) : above()?.focus()),
    Enter: () => item.click(),
    ' ': () => item.click(),
  };
  const key = keys[event.key];
  if (key === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  key();
}

// Move by dragging: a place is dropped on its new parent, and Undo moves it back.

interface Drop {
  readonly isAllowed: boolean;
  readonly isDragging: () => boolean;
  readonly start: (event: DragEvent, place: Place) => void;
  readonly end: (onto: Place) => void;
}

let dragged: Place | undefined;

function useMove(workspaceId: string, isNow: boolean): Drop {
  const words = useWords(placesWords);
  const known = useQueryClient();
  const isAllowed = useMayDo('asset: update') && isNow;
  const refresh = () => known.invalidateQueries({ queryKey: placesKey(workspaceId) });
  const move = async (place: Place, onto: Place) => {
    const moved = await changePlace(place, { parentId: onto.id });
    toast(words.moved(place.name, onto.name), () => {
      changePlace(moved, { parentId: place.parentId }).then(refresh).catch(toastFailure);
    });
    await refresh();
  };
  return {
    isAllowed,
    isDragging: () => dragged !== undefined,
    start(event, place) {
      event.stopPropagation();
      dragged = place;
      event.dataTransfer.effectAllowed = 'move';
      event.dataTransfer.setData('text/plain', place.name);
      addEventListener('dragend', () => (dragged = undefined), { once: true });
    },
    end(onto) {
      const place = dragged;
      dragged = undefined;
      if (place === undefined || place.id === onto.id || place.parentId === onto.id) return;
      move(place, onto).catch(toastFailure);
    },
  };
}

// Found places: those that a search finds, with their paths.

interface FoundProps extends Pick<TreeProps, 'workspaceId' | 'at'> {
  readonly search: string;
}

export function FoundPlaces({ workspaceId, search, at }: FoundProps) {
  const words = useWords(placesWords);
  const navigate = useNavigate();
  const { placeId: chosenId } = useParams({ strict: false });
  const found = useQuery(foundPlaces(workspaceId, search));
  return (
    <Answered answer={found} skeleton={<Bone width="12em" />}>
      {({ content }) =>
        content.length === 0 ? (
          <p className={`mute ${styles['note']}`}>{words.noMatch}</p>
        ) : (
          <ul className={styles['tree']} aria-label={words.search}>
            {content.map((place) => (
              <li key={place.id}>
                <button
                  type="button"
                  className={styles['node']}
                  {...(place.id === chosenId ? { 'aria-current': 'page' as const } : {})}
                  onClick={() =>
                    void navigate({
                      to: '/w/$workspaceId/places/$placeId',
                      params: { workspaceId, placeId: place.id },
                      search: withMoment({ q: search }, at),
                    })
                  }
                >
                  <span className="grow shrinks">
                    <span className={styles['found']}>{place.name}</span>
                    <small className={`faint ${styles['found']}`}>
                      {place.path
                        .slice(0, -1)
                        .map(({ name }) => name)
                        .join(' / ')}
                    </small>
                  </span>
                  {at === undefined && <Alarms place={place} />}
                  <DeviceCount place={place} />
                </button>
              </li>
            ))}
          </ul>
        )
      }
    </Answered>
  );
}
