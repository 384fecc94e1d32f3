// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Farcaster's IdRegistry as far as it is read, with open setters instead of its gateways.
contract IdRegistry {
    event Register(address indexed to, uint256 indexed id, address recovery);
    event Transfer(address indexed from, address indexed to, uint256 indexed id);
    event Recover(address indexed from, address indexed to, uint256 indexed id);

    error HasId();
    error HasNoId();

    mapping(address owner => uint256 fid) public idOf;
    mapping(uint256 fid => address custody) public custodyOf;
    mapping(uint256 fid => address recovery) public recoveryOf;

    /// Gives a FID of the caller's choice to an address that has none.
    function registerId(uint256 fid, address to, address recovery) external {
        require(idOf[to] == 0 && custodyOf[fid] == address(0), HasId());
        idOf[to] = fid;
        custodyOf[fid] = to;
        recoveryOf[fid] = recovery;
        emit Register(to, fid, recovery);
    }

    function transferId(uint256 fid, address to) external {
        emit Transfer(_move(fid, to), to, fid);
    }

    function recoverId(uint256 fid, address to) external {
        address from = _move(fid, to);
        emit Recover(from, to, fid);
        emit Transfer(from, to, fid);
    }

    function _move(uint256 fid, address to) private returns (address from) {
        from = custodyOf[fid];
        require(from != address(0), HasNoId());
        require(idOf[to] == 0, HasId());
        idOf[from] = 0;
        idOf[to] = fid;
        custodyOf[fid] = to;
    }
}

/// Farcaster's KeyRegistry as far as it is read, with open setters instead of its gateway.
contract KeyRegistry {
    struct KeyData {
        uint8 state;
        uint32 keyType;
    }

    event Add(
        uint256 indexed fid,
        uint32 indexed keyType,
        bytes indexed key,
        bytes keyBytes,
        uint8 metadataType,
        bytes metadata
    );
    event Remove(uint256 indexed fid, bytes indexed key, bytes keyBytes);

    error WrongState();

    uint8 private constant UNKNOWN = 0;
    uint8 private constant ADDED = 1;
    uint8 private constant REMOVED = 2;

    mapping(uint256 fid => mapping(bytes key => KeyData)) public keys;
    mapping(uint256 fid => bytes[]) private _added;

    function addKey(uint256 fid, uint32 keyType, bytes calldata key, uint8 metadataType, bytes calldata metadata)
        external
    {
        require(keys[fid][key].state == UNKNOWN, WrongState());
        keys[fid][key] = KeyData(ADDED, keyType);
        _added[fid].push(key);
        emit Add(fid, keyType, key, key, metadataType, metadata);
    }

    function removeKey(uint256 fid, bytes calldata key) external {
        require(keys[fid][key].state == ADDED, WrongState());
        keys[fid][key].state = REMOVED;
        bytes[] storage added = _added[fid];
        for (uint256 i = 0; i < added.length; i++) {
            if (keccak256(added[i]) == keccak256(key)) {
                added[i] = added[added.length - 1];
                added.pop();
                break;
            }
        }
        emit Remove(fid, key, key);
    }

    function keyDataOf(uint256 fid, bytes calldata key) external view returns (KeyData memory) {
        return keys[fid][key];
    }

    /// Keys in state 1; of other states none are kept.
    function keysOf(uint256 fid, uint8 state) external view returns (bytes[] memory) {
        return state == ADDED ? _added[fid] : new bytes[](0);
    }
}
