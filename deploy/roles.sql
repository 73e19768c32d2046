-- Run once by PostgreSQL's image, as its superuser, where there are no data yet. Nobody who serves sessions is a superuser:
-- the store and Temporal have a role each, which owns its own databases and cannot connect to the other's.
\getenv stello_password STELLO_PASSWORD
\getenv temporal_password TEMPORAL_PASSWORD
create role stello login password :'stello_password';
create role temporal login password :'temporal_password';
create database stello owner stello;
create database temporal owner temporal;
create database temporal_visibility owner temporal;
revoke connect on database stello, temporal, temporal_visibility, postgres from public;
