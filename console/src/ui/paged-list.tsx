// Paged list: the rows of one page, with search and pager in the address, or an empty state.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { Fragment, type ReactNode } from 'react';
import { useFormats, useWords } from '../words/language.tsx';
import { IconButton } from './button.tsx';
import { Sheet } from './card.tsx';
import { CurlButton } from './copy-button.tsx';
import { readListSearch } from './list-search.ts';
import { ListBones, ListTable, type ListTableProps } from './list-table.tsx';
import { Page } from './page.tsx';
import styles from './pager.module.css';
import { partWords } from './part-words.ts';
import { SearchField } from './search-field.tsx';
import { type Answer, Answered, Bone, Empty } from './states.tsx';

interface PageOf<T> {
  readonly content: readonly T[];
  readonly totalElements: number;
  readonly totalPages: number;
}

interface PagedListProps<T> extends Omit<ListTableProps, 'children'> {
  readonly answer: Answer<PageOf<T>>;
  /** Of the request, for a terminal. */
  readonly path: string;
  readonly words: {
    readonly empty: string;
    readonly emptyNote: string;
    readonly noMatch: string;
    readonly noMatchNote: string;
  };
  /** By more than the search. */
  readonly isNarrowed?: boolean;
  /** Button that creates the first record. */
  readonly add: ReactNode;
  readonly row: (record: T) => ReactNode;
}

export function PagedList<T extends { readonly id: string }>(props: PagedListProps<T>) {
  const { answer, path, words, isNarrowed = false, add, row, ...table } = props;
  const { q, page, change } = useListAddress();
  return (
    <Sheet>
      <Answered answer={answer} curl={{ path }} skeleton={<ListBones />}>
        {({ content, totalPages }) => {
          if (content.length === 0 && (isNarrowed || q !== undefined))
            return <Empty title={words.noMatch} note={words.noMatchNote} />;
          if (content.length === 0)
            return <Empty title={words.empty} note={words.emptyNote} actions={add} />;
          return (
            <>
              <ListTable {...table}>
                {content.map((record) => (
                  <Fragment key={record.id}>{row(record)}</Fragment>
                ))}
              </ListTable>
              <Pager page={page} pages={totalPages} go={(to) => change({ page: to })} />
            </>
          );
        }}
      </Answered>
    </Sheet>
  );
}

/** Searches the list from its first page; other conditions of the address stay. */
export function ListSearchField({ label }: { readonly label: string }) {
  const { q, change } = useListAddress();
  return (
    <SearchField
      label={label}
      value={q ?? ''}
      change={(typed) =>
        change({ page: undefined, q: typed === '' ? undefined : typed }, { replace: true })
      }
    />
  );
}

interface ListPageProps {
  readonly words: {
    readonly title: string;
    readonly count: (count: string, total: number) => string;
  };
  readonly answer: Answer<Pick<PageOf<unknown>, 'totalElements'>>;
  /** Of the request, for a terminal. */
  readonly path: string;
  readonly actions: ReactNode;
  readonly children: ReactNode;
}

/** A page that is one list, and says how many records are on all pages of it. */
export function ListPage({ words, answer, path, actions, children }: ListPageProps) {
  const { count } = useFormats();
  const total = answer.data?.totalElements;
  return (
    <Page
      title={words.title}
      name={words.title}
      path={[words.title]}
      lead={total === undefined ? <Bone width="5em" /> : words.count(count(total), total)}
      actions={
        <>
          <CurlButton request={{ path }} />
          {actions}
        </>
      }
    >
      {children}
    </Page>
  );
}

function useListAddress() {
  const { q, page = 0 } = readListSearch(useSearch({ strict: false }));
  const navigate = useNavigate();
  const change = (part: object, options: { readonly replace?: true } = {}) => {
    const changed = (before: object) => ({ ...before, ...part });
    void navigate({ to: '.', search: changed as never, ...options });
  };
  return { q, page, change };
}

// Pager: the current page of a long list, and links to the next and previous page.

interface PagerProps {
  /** From 0. */
  readonly page: number;
  readonly pages: number;
  readonly go: (page: number) => void;
}

/** Nothing for a list of one page. */
export function Pager({ page, pages, go }: PagerProps) {
  const words = useWords(partWords);
  const { count } = useFormats();
  if (pages <= 1) return null;
  return (
    <div className={styles['pager']}>
      <IconButton
        label={words.earlier}
        icon={ChevronLeft}
        disabled={page === 0}
        onClick={() => go(page - 1)}
      />
      <span className="num">{words.pageOf(count(page + 1), count(pages))}</span>
      <IconButton
        label={words.later}
        icon={ChevronRight}
        disabled={page + 1 >= pages}
        onClick={() => go(page + 1)}
      />
    </div>
  );
}
