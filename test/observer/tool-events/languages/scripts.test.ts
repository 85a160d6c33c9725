import { describe } from 'vitest'
import { created, edited, patched } from './edit.ts'
import { examples, swap } from './examples.ts'

const RUBY = `require 'json'

module Shop
  class Cart < Base
    MAX = 10

    def self.load(id)
      find(id)
    end

    def empty?
      items.none?
    end
  end
end
`

describe('Ruby', () => {
  examples([
    [
      'methods',
      edited('cart.rb', RUBY, swap(RUBY, ['find(id)', 'find_by!(id: id)'], ['items.none?', 'items.empty?'])),
      { symbols: ['modified Cart.load', 'modified Cart.empty?'] },
    ],
    [
      'a constant and a require',
      edited('cart.rb', RUBY, swap(RUBY, ['MAX = 10', 'MAX = 20'], ["'json'", "'yaml'"])),
      { values: ['Cart.MAX: 10 -> 20'], imports: ['+yaml', '-json'] },
    ],
    [
      'Rails',
      patched(
        'config/routes.rb',
        "+  get '/health', to: 'health#show'",
        '+  resources :orders',
        "+  key = ENV.fetch('STRIPE_KEY')",
      ),
      { notable: ['New route GET /health', 'New route resources :orders', 'Reads environment variable STRIPE_KEY'] },
    ],
    [
      'a migration',
      patched(
        'db/migrate/1_orders.rb',
        ' class AddOrders < ActiveRecord::Migration[7.1]',
        '+  def change',
        '+    create_table :orders do |t|',
        '+    end',
        '+    add_column :users, :locale, :string',
        '+  end',
        ' end',
      ),
      { symbols: ['new AddOrders.change'], notable: ['Creates table orders', 'Adds column users.locale'] },
    ],
    [
      'a spec',
      patched(
        'spec/cart_spec.rb',
        "+  it 'rejects an empty cart' do",
        '+  end',
        '+class CartError < StandardError; end',
      ),
      { includes: ['Adds test: rejects an empty cart', 'Defines error CartError'] },
    ],
  ])
})

const PHP = `<?php

use App\\Models\\Cart;

class CartController extends Controller
{
    private const LIMIT = 5;

    public function show(string $id): Response
    {
        return view('cart', ['id' => $id]);
    }
}
`

describe('PHP', () => {
  examples([
    [
      'a method',
      edited('CartController.php', PHP, swap(PHP, ["view('cart'", "view('basket'"])),
      { symbols: ['modified CartController.show'] },
    ],
    [
      'a constant and a use',
      edited('CartController.php', PHP, swap(PHP, ['LIMIT = 5', 'LIMIT = 6'], ['Models\\Cart', 'Models\\Basket'])),
      { values: ['CartController.LIMIT: 5 -> 6'], imports: ['+App\\Models\\Basket', '-App\\Models\\Cart'] },
    ],
    [
      'Laravel',
      patched(
        'routes/web.php',
        "+Route::get('/carts/{id}', [CartController::class, 'show']);",
        "+$url = env('APP_URL');",
      ),
      { notable: ['New route GET /carts/{id}', 'Reads environment variable APP_URL'] },
    ],
  ])
})

describe('Shell, Make, Docker', () => {
  examples([
    [
      'a function and a variable',
      edited(
        'run.sh',
        '#!/bin/sh\nRETRIES=3\nbuild() {\n  npm run build\n}\n',
        '#!/bin/sh\nRETRIES=5\nbuild() {\n  npm ci\n  npm run build\n}\n',
      ),
      { symbols: ['modified build'], values: ['RETRIES: 3 -> 5'] },
    ],
    ['a flag', patched('run.sh', '+    --dry-run) DRY=1 ;;'), { notable: ['Adds CLI flag --dry-run'] }],
    [
      'a target',
      edited(
        'Makefile',
        'CC := gcc\n\nbuild: deps\n\tgo build\n\ntest:\n\tgo test\n',
        'CC := clang\n\nbuild: deps\n\tgo build\n\ntest:\n\tgo test ./...\n\nlint:\n\tgolangci-lint run\n',
      ),
      { symbols: ['new lint', 'modified test'], values: ['CC: gcc -> clang'] },
    ],
    [
      'an image',
      edited(
        'Dockerfile',
        'FROM node:18 AS build\nENV NODE_ENV=production\nEXPOSE 3000\n',
        'FROM node:20 AS build\nENV NODE_ENV=production\nENV DB_PASSWORD=hunter2\nEXPOSE 8080\n',
      ),
      { values: ['FROM: node:18 AS build -> node:20 AS build', 'ENV DB_PASSWORD: - -> ***', 'EXPOSE: 3000 -> 8080'] },
    ],
  ])
})

describe('SQL', () => {
  const table = 'CREATE TABLE orders (\n  id bigint PRIMARY KEY,\n  total numeric(10,2) NOT NULL\n);\n'
  examples([
    [
      'a table',
      created('001.sql', `${table}CREATE INDEX idx_total ON orders (total);\n`),
      {
        symbols: ['new orders', 'new idx_total'],
        values: ['orders.id: - -> bigint PRIMARY KEY', 'orders.total: - -> numeric(10,2) NOT NULL'],
        notable: ['Creates table orders', 'Creates index idx_total on orders'],
      },
    ],
    [
      'a column',
      edited(
        'schema.sql',
        table,
        swap(table, ['numeric(10,2) NOT NULL', "numeric(12,2) NOT NULL,\n  currency char(3) DEFAULT 'EUR'"]),
      ),
      {
        symbols: ['modified orders'],
        values: [
          'orders.total: numeric(10,2) NOT NULL -> numeric(12,2) NOT NULL',
          "orders.currency: - -> char(3) DEFAULT 'EUR'",
        ],
      },
    ],
    [
      'alterations',
      patched(
        '002.sql',
        '+ALTER TABLE orders ADD COLUMN locale text;',
        '+ALTER TABLE orders DROP COLUMN total;',
        '+DROP INDEX IF EXISTS idx_total;',
      ),
      {
        values: ['orders.locale: - -> text'],
        notable: ['Adds column orders.locale', 'Drops column orders.total', 'Drops index idx_total'],
      },
    ],
  ])
})
