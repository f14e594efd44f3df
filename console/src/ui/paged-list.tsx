// Lists of records: the table of one row a record, and the page of it with search and pager in the address, or an empty state.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { Fragment, type ReactNode } from 'react';
import { useFormats, useWords } from '../words/language.tsx';
import { IconButton } from './button.tsx';
import { Sheet } from './card.tsx';
import { CurlButton } from './copy-button.tsx';
import { readListSearch } from './list-search.ts';
import { Page } from './page.tsx';
import styles from './pager.module.css';
import { partWords } from './part-words.ts';
import { SearchField } from './search-field.tsx';
import { type Answer, Answered, Bone, Empty } from './states.tsx';
import tableStyles from './list-table.module.css';

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

// List table: one row a record; on a phone the cells of a row are below each other.

interface ListTableProps {
  readonly headers: readonly string[];
  /** The first column is a small control, such as a switch. */
  readonly hasControl?: boolean;
  /** Name of a last column of buttons, which is not shown. */
  readonly actions?: string;
  /** Rows whose name is a `<th scope="row">`. */
  readonly children: ReactNode;
}

export function ListTable({ headers, hasControl = false, actions, children }: ListTableProps) {
  const columns = [
    hasControl && tableStyles['controlled'],
    actions !== undefined && tableStyles['acted'],
  ];
  return (
    <table className={[tableStyles['list'], ...columns].filter(Boolean).join(' ')}>
      <thead>
        <tr>
          {headers.map((header) => (
            <th key={header} scope="col">
              {header}
            </th>
          ))}
          {actions !== undefined && (
            <th scope="col">
              <span className="sr">{actions}</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

/** The shape of a list while its rows are on the way. */
export function ListBones({ rows = 5 }: { readonly rows?: number }) {
  return (
    <div className={tableStyles['bones']}>
      {Array.from({ length: rows }, (_, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- rows of a skeleton have no other identity
        <Bone key={at} width="100%" />
      ))}
    </div>
  );
}
