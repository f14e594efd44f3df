// Device pick: a search field whose list of matches is walked with the arrow keys.
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { type DeviceFilter, devicesMatching, type FoundDevice } from '../api/workspace-records.ts';
import { useSettledValue } from './use-settled-value.ts';
import { useWords } from '../words/language.tsx';
import { partWords } from './part-words.ts';
import { toastFailure } from './toasts.tsx';
import styles from './device-pick.module.css';

const shownMax = 8;

interface DevicePickProps {
  readonly workspaceId: string;
  readonly label: string;
  /** Shown while nothing is typed. */
  readonly chosen?: string | undefined;
  /** All of which a device must fulfil. */
  readonly filters?: readonly DeviceFilter[];
  readonly choose: (device: FoundDevice) => void;
}

export function DevicePick(props: DevicePickProps) {
  const { workspaceId, label, chosen = '', filters = noFilters, choose } = props;
  const words = useWords(partWords);
  const id = useId();
  const [typed, setTyped] = useState<string>();
  const [current, setCurrent] = useState(0);
  const { matches, isNarrowed } = useMatches(workspaceId, typed, filters);
  const client = useQueryClient();
  const typings = useRef(0);
  const isOpen = typed !== undefined;
  const found = matches[current];
  const type = (search: string | undefined) => {
    setTyped(search);
    setCurrent(0);
  };
  const take = (device: FoundDevice) => {
    choose(device);
    type(undefined);
  };
  /** While the list still has the matches of an earlier search, those of this one are awaited. */
  const enter = async (search: string) => {
    if (isNarrowed) return found === undefined ? undefined : take(found);
    const typing = typings.current;
    const [first] = await client.ensureQueryData(
      devicesMatching(workspaceId, search, shownMax, filters),
    );
    if (typing === typings.current && first !== undefined) take(first);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Escape') typings.current += 1;
    if (event.key === 'Escape' && isOpen) type(undefined);
    else if (event.key === 'Enter' && isOpen) enter(event.currentTarget.value).catch(toastFailure);
    else if (event.key === 'ArrowDown' && !isOpen) type('');
    else if (event.key === 'ArrowDown') setCurrent(Math.min(matches.length - 1, current + 1));
    else if (event.key === 'ArrowUp') setCurrent(Math.max(0, current - 1));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className={styles['pick']}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        role="combobox"
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        {...(isOpen && isNarrowed && found !== undefined
          ? { 'aria-activedescendant': `${id}-${current}` }
          : {})}
        autoComplete="off"
        placeholder={words.searchDevice}
        value={typed ?? chosen}
        onFocus={(event) => event.currentTarget.select()}
        onClick={() => setTyped(typed ?? '')}
        onBlur={() => type(undefined)}
        onChange={(event) => {
          typings.current += 1;
          type(event.currentTarget.value);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={`${id}-list`} role="listbox" aria-label={label} hidden={!isOpen}>
        {matches.map((device, at) => (
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the keys of the field above walk the list
          <div
            key={device.id}
            id={`${id}-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === current}
            // The press would take the focus from the field, which closes the list.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(device)}
          >
            {device.name} <span className="faint mono">{device.deviceId}</span>
          </div>
        ))}
        {matches.length === 0 && isNarrowed && (
          <div role="option" aria-selected="false" aria-disabled="true">
            {words.noDeviceFound}
          </div>
        )}
      </div>
    </div>
  );
}

interface Matches {
  readonly matches: readonly FoundDevice[];
  /** Whether they are those of what is typed now. */
  readonly isNarrowed: boolean;
}

const noFilters: readonly DeviceFilter[] = [];

function useMatches(
  workspaceId: string,
  typed: string | undefined,
  filters: readonly DeviceFilter[],
): Matches {
  const search = useSettledValue(typed ?? '');
  const answer = useQuery({
    ...devicesMatching(workspaceId, search, shownMax, filters),
    enabled: typed !== undefined,
    placeholderData: keepPreviousData,
  });
  const { data = [], isPlaceholderData, isFetched } = answer;
  const isNarrowed = search === (typed ?? '') && isFetched && !isPlaceholderData;
  return { matches: data, isNarrowed };
}
